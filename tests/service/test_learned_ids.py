"""The ids that were learned: remembered over restarts, and never more on the disk than twice what is remembered."""

import json

import pytest

import aranyani_tf as ar
import learned_ids
import saves
from checked_lines import line_of
from first_model import first_model, people
from learner import Learner

pytestmark = pytest.mark.filterwarnings("ignore:column")


def test_files_do_not_grow_for_ever_and_have_what_is_remembered(tmp_path):
    for number in range(0, 100, 4):
        sizes = learned_ids.add(tmp_path, [f"id {each}" for each in range(number, number + 4)], number, remembered=10)
        learned_ids.remove_others(tmp_path, sizes)
        found = learned_ids.read(tmp_path, sizes)
        wanted = [f"id {each}" for each in range(number + 4)]
        assert found[-10:] == wanted[-10:] and len(found) <= 24
        assert [path.name for _, path in learned_ids.files(tmp_path)] == list(sizes) and len(sizes) <= 2
    assert learned_ids.files(tmp_path)[0][0] > 70


def test_what_a_killed_save_wrote_is_cut_off_and_an_end_that_is_lost_is_told(tmp_path):
    sizes = learned_ids.add(tmp_path, ["a", "b"], 0, remembered=2)
    learned_ids.add(tmp_path, ["c"], 2, remembered=2)  # in a file of its own, which no save knows
    with learned_ids.files(tmp_path)[0][1].open("ab") as file:
        file.write(b'"half')
    assert learned_ids.read(tmp_path, sizes) == ["a", "b"]
    learned_ids.cut(tmp_path, sizes)
    assert {path.name: path.read_bytes() for _, path in learned_ids.files(tmp_path)} == {
        "learned-000000000000.txt": line_of("a") + line_of("b")}
    with pytest.raises(ar.errors.DamagedFileError, match="lost its end"):
        learned_ids.read(tmp_path, {"learned-000000000000.txt": 99})


def test_a_learner_forgets_the_oldest_ids_and_a_save_of_version_1_is_read(tmp_path):
    learner = Learner(*first_model(), remembered=5)
    row = people()[:1].drop(columns=["income", "gender"]).to_dict("records")[0]
    for key in "abcdefgh":
        learner.take({"id": key, "row": row, "label": "<=50K", "group": "Male", "decision": None})
    assert 4 <= len(learner.learned) <= 5 and list(learner.learned)[-1] == "h" and learner.num_learned == 8
    saves.save(learner, tmp_path)
    state = saves.state_of(tmp_path)
    (name, size), = state.pop("learned").items()
    (tmp_path / name).rename(tmp_path / "learned.txt")
    (tmp_path / "state.json").write_text(json.dumps(state | {"version": 1, "learned_bytes": size}), encoding="utf-8")
    again = saves.load(tmp_path, remembered=5)
    assert list(again.learned) == list("defgh")
    again.take({"id": "i", "row": row, "label": "<=50K", "group": "Male", "decision": None})
    saves.save(again, tmp_path)
    assert list(saves.load(tmp_path, remembered=5).learned) == list("efghi")
