"""Bad input of every kind, some hundreds of cases of the fuzzer: each succeeds or ends with one of our own errors."""

import pytest

import aranyani_tf as ar
from trials.fuzz_all import SURFACES
from trials.fuzz_cases import ESCAPED, REFUSED, SUCCEEDED, Case, Surface, judged
from trials.fuzz_run import blocks, outcomes, table

# Cases of each surface: more where they are cheap.
COUNTS = {"command, rows": 8, "command, options": 5, "command, models": 6, ".keras files": 15, "settings": 25,
          "settings, by hypothesis": 15}


@pytest.mark.parametrize("surface", SURFACES, ids=[each.name for each in SURFACES])
def test_bad_input_is_refused_in_words_and_changes_nothing(surface):
    found = list(outcomes(surface, seed=1, block=0, count=COUNTS.get(surface.name, 30)))
    assert [f"{each.mutation}: {each.message} ({each.told})" for each in found if each.kind == ESCAPED] == []
    assert [f"{each.mutation}: {each.told}" for each in found if each.changed] == []
    assert {each.kind for each in found} <= {SUCCEEDED, REFUSED} and any(each.message for each in found)


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(("error", "kind"), [
    (ar.errors.RowError("row 3: …"), REFUSED), (KeyError("x"), ESCAPED), (TypeError("no loop for ufunc"), ESCAPED),
    (TypeError("f() got an unexpected keyword argument 'x'"), REFUSED), (OSError(2, "no such file"), ESCAPED),
    (FileNotFoundError("there is no file x"), REFUSED), (MemoryError(), ESCAPED)], ids=str)
def test_only_our_own_errors_count_as_refusals(error, kind, tmp_path):
    assert judged("x", Case("x", raising(error)), tmp_path).kind == kind


def test_a_refused_call_that_changed_something_is_found(tmp_path):
    state = [b"before"]

    def action():
        state[0] = b"after"
        raise ar.errors.RowError("no")

    assert judged("x", Case("x", action, lambda: state[0]), tmp_path).changed


def test_addresses_in_memory_are_not_told(tmp_path):
    message = judged("x", Case("x", raising(ar.errors.RowError(f"{object()} in {tmp_path}/a"))), tmp_path).message
    assert message == "RowError: <object object at 0x…> in …/a"


def test_the_same_seed_gives_the_same_cases_and_another_one_others():
    surface = Surface("numbers", 1.0, lambda folder: lambda random: Case(str(random.random()), lambda: None))
    ones, again, others = ([each.mutation for each in outcomes(surface, seed, 0, 5)] for seed in (0, 0, 1))
    assert ones == again != others


def test_shares_become_blocks_and_outcomes_a_table(tmp_path):
    work = blocks([Surface("a", 0.75, lambda folder: None), Surface("b", 0.25, lambda folder: None)], 1000)
    assert sum(count for *_, count in work) == 1000
    assert sum(count for surface, _, count in work if surface.name == "a") == 750
    found = [judged("a", Case("m", raising(ar.errors.RowError("no"))), tmp_path),
             judged("a", Case("m", raising(KeyError("k"))), tmp_path)]
    row = table(found).iloc[0]
    assert (row["cases"], row["refused"], row["escaped"]) == (2, 1, 1) and "KeyError" in row["example"]
