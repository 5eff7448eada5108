"""Where the table of a trial goes: all of it to results/, where runs are noted, a part of it to a file of its own."""

from pathlib import Path

from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.provenance import write_environment


def place_of(name, is_part, given=None):
    """The file: that which was given, or the committed one, or for a part of the trial one that git ignores."""
    return Path(given or RESULTS / f"{name}{'_quick' if is_part else ''}.csv")


def write(table, output, clock, *, is_part, float_format=None, **facts):
    """Writes a table; a whole trial's in results/ is entered into the list of runs, and its hash into that of hashes.

    Args:
        output: as `place_of` gives it.
        clock: the run's.
        facts: what the list of runs tells besides.
    """
    with whole_file(output, "w") as file:
        table.to_csv(file, index=False, float_format=float_format)
    if not is_part and output.resolve().parent == RESULTS.resolve():
        write_environment(output.parent / "environment.json", [output.stem], clock, **facts)
