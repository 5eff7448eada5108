"""What is written into the README and the docs: the headline, speeds, the verdicts on the theory, and numbers inside
sentences (`inline_numbers`), all from results/ or `aranyani_tf.theory`.

Each stands between two comments, the first of which tells that it is written; `tests/reproduce/test_numbers.py` fails
while one is not what the files say.
"""

import re
from collections.abc import Callable
from pathlib import Path

from aranyani_tf.files import whole_file
from aranyani_tf.theory.statements import STATEMENTS, Statement
from harness import RESULTS, ROOT
from harness.readings import read_sections
from harness.sums import exit_if_damaged
from prepare import scale_numbers
from prepare.cost_numbers import coefficients, costs
from prepare.field_numbers import rivals, standings
from prepare.headline import headline, told_score
from prepare.inline_numbers import PAGES, with_numbers
from prepare.live_numbers import agents, pipelines, service, soak
from prepare.reactions_table import reactions_table, reactions_told
from prepare.speed_numbers import levels, speeds, table_2
from prepare.targets_table import kept_table, shares
from prepare.trust_numbers import extremes, faults, fuzzed, processors


def verdict(statement: Statement) -> str:
    """A row of the table: the statement, whether it holds, and its case in numbers."""
    numbers = " | ".join(f"{value:.4g}" for value in statement.case()) if statement.case else "– | – | –"
    told = "holds" if statement.holds else "**fails**"
    cells = (statement.name, statement.place, statement.printed, told, statement.corrected)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + f" | {numbers} |"


def verdicts(results: Path) -> str:
    """Every statement of the paper's theory; the numbers are computed here, and in no file of results."""
    return "\n".join(["| statement | place | as printed | | what holds | measured | printed | what holds |",
                      "|---|---|---|---|---|---|---|---|", *map(verdict, STATEMENTS)])


def on_a_stream(results: Path) -> str:
    """What `make theory` read off its numbers, a line for each panel."""
    section = read_sections((results / "README.md").read_text(encoding="utf-8"))["theory"]
    return re.sub(r" (?=[bcd]\. |Numbers above)", "\n\n", section.rstrip().splitlines()[-1])


BENCHMARK, TABLE_2, TARGETS, REACTIONS, SCALE = (f"written by `make numbers` from results/{name}.csv" for name in (
    "benchmark", "table2", "targets", "reactions", "scale"))
BLOCKS: list[tuple[str, str, Callable[[Path], str]]] = [  # page, the comment before the place, what stands there
    ("README.md", "written by `make numbers` from results/matched.csv", headline),
    ("README.md", "written by `make numbers` from results/claims.csv", told_score),
    ("README.md", BENCHMARK, speeds),
    ("docs/deviations.md", TABLE_2, table_2),
    ("docs/deviations.md", BENCHMARK, levels),
    ("docs/theory.md", "written by `make numbers` from aranyani_tf.theory", verdicts),
    ("docs/theory.md", "written by `make numbers` from results/README.md", on_a_stream),
    ("docs/live.md", BENCHMARK, pipelines),
    ("examples/service/README.md", "written by `make numbers` from results/service.csv", service),
    ("docs/trust.md", "written by `make numbers` from results/soak.csv", soak),
    ("README.md", "written by `make numbers` from results/agents.csv", agents),
    ("README.md", TARGETS, shares),
    ("README.md", "written by `make numbers` from results/field.csv", standings),
    ("docs/peers.md", "written by `make numbers` from results/paired.csv", rivals),
    ("docs/live.md", TARGETS, shares),
    ("docs/live.md", f"{TARGETS}, stream by stream", kept_table),
    ("docs/drift.md", f"{REACTIONS}, in words", reactions_told),
    ("docs/drift.md", REACTIONS, reactions_table),
    ("docs/scale.md", "written by `make numbers` from results/cost.csv", costs),
    ("docs/scale.md", "written by `make numbers` from results/cost.csv, term by term", coefficients),
    ("docs/scale.md", f"{SCALE}, grids", scale_numbers.grid),
    ("docs/scale.md", f"{SCALE}, many streams", scale_numbers.streams),
    ("docs/scale.md", f"{SCALE}, one model", scale_numbers.one_model),
    ("docs/trust.md", "written by `make numbers` from results/processors.csv", processors),
    ("docs/trust.md", "written by `make numbers` from results/faults.csv", faults),
    ("docs/trust.md", "written by `make numbers` from results/fuzz.csv", fuzzed),
    ("docs/trust.md", "written by `make numbers` from results/extremes.csv", extremes)]


def content_of(opening: str, write: Callable[[Path], str], results: Path) -> str:
    """What stands in a block; of a trial that was not run yet, what makes it."""
    csv = re.search(r"results/(\w+)\.csv", opening)
    if csv and not (results / f"{csv[1]}.csv").is_file():
        return f"*Not run with this version yet; `make {csv[1]}` does it.*"
    return write(results)


def with_block(text: str, opening: str, content: str) -> str:
    """The page with new content between its two comments."""
    pattern = rf"(<!-- {re.escape(opening)} -->\n).*?(<!-- until here -->)"
    changed, count = re.subn(pattern, lambda found: f"{found[1]}{content}\n{found[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has no place, or several, between <!-- {opening} --> and <!-- until here -->")
    return changed


def main(root: Path = ROOT, results: Path = RESULTS) -> None:
    exit_if_damaged(results)
    for page, opening, write in BLOCKS:
        path = root / page
        text = with_block(path.read_text(encoding="utf-8"), opening, content_of(opening, write, results))
        with whole_file(path, "w") as file:
            file.write(text)
        print(f"→ {page}")
    for page in PAGES:
        path = root / page
        text = with_numbers(path.read_text(encoding="utf-8"), results)
        with whole_file(path, "w") as file:
            file.write(text)
        print(f"→ {page}, inside its sentences")


if __name__ == "__main__":
    main()
