"""A changed byte in what the service keeps is told with the name of its file, whichever byte it is."""

import asyncio
import json
import random
import shutil

import pytest

import aranyani_tf as ar
import saves
from checked_lines import cut, line_of, read
from first_model import first_model, people
from journal import Journal
from learner import Learner
from pending import Pending
from service import Service

pytestmark = pytest.mark.filterwarnings("ignore:column")
LINES = [{"id": "1", "label": "<=50K", "row": {"age": 39}}, {"id": "2", "label": None, "row": {"age": 40}}]


def flipped(content, place, bit):
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_every_bit_of_every_line_counts(tmp_path):
    content, path = b"".join(map(line_of, LINES)), tmp_path / "lines"
    path.write_bytes(content)
    assert read(path) == LINES
    for place in range(len(content)):
        for bit in range(8):
            path.write_bytes(flipped(content, place, bit))
            with pytest.raises(ar.errors.DamagedFileError, match=f"{path} is damaged.*copy"):
                read(path)


def test_a_line_that_was_cut_anywhere_is_cut_off(tmp_path):
    first, second, path = *map(line_of, LINES), tmp_path / "lines"
    for length in range(len(second)):
        path.write_bytes(first + second[:length])
        cut(path)
        assert path.read_bytes() == first


def test_lines_of_an_earlier_version_have_no_check_sum(tmp_path):
    (tmp_path / "journal-000000000000.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    assert list(Journal(tmp_path).entries(1)) == LINES[1:]
    (tmp_path / "predictions.jsonl").write_text('["7", {"row": 1}]\n')
    assert Pending(tmp_path, 3).get("7") == {"row": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a service leaves that has learned twenty feedbacks and was saved."""
    folder, learner = tmp_path_factory.mktemp("service"), Learner(*first_model())
    for number, row in enumerate(people()[:20].to_dict("records")):
        told = {"label": row.pop("income"), "group": row.pop("gender"), "decision": ">50K"}
        learner.take({"id": str(number), "row": row} | told)
    saves.save(learner, folder)
    return folder


@pytest.mark.parametrize("pattern", ["state.json", "learned-*.txt", "model-*.keras"])
def test_a_changed_byte_of_a_save_is_told(folder, tmp_path, pattern):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (path,), chance = tmp_path.glob(pattern), random.Random(pattern)
    content = path.read_bytes()
    for _ in range(40):
        path.write_bytes(flipped(content, chance.randrange(len(content)), chance.randrange(8)))
        with pytest.raises(ar.errors.DamagedFileError, match=f"{path.name}.*copy"):
            saves.load(tmp_path)
    path.write_bytes(content)
    assert saves.load(tmp_path).offset == 20


def test_a_save_of_the_first_version_is_taken_as_it_is(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    state = saves.state_of(tmp_path)
    (ids,) = tmp_path.glob("learned-*.txt")
    plain = "".join(f"{json.dumps(key)}\n" for key in read(ids))  # as it wrote them, without check sums
    ids.rename(tmp_path / "learned.txt").write_text(plain)
    old = {"version": 1, "learned_bytes": len(plain)} | {name: state[name] for name in ("model", "learner", "monitor")}
    (tmp_path / "state.json").write_text(json.dumps(old))
    learner = saves.load(tmp_path)
    assert learner.offset == 20 and list(learner.learned) == [str(number) for number in range(20)]


def test_a_service_that_meets_damage_leaves_its_folder_to_the_next(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (ids,) = tmp_path.glob("learned-*.txt")
    ids.write_bytes(flipped(ids.read_bytes(), 3, 0))
    for _ in range(2):  # the second finds no lock
        with pytest.raises(ar.errors.DamagedFileError, match=r"learned-0+\.txt"):
            Service(tmp_path).open()


def test_a_disk_that_is_full_when_the_service_ends_is_told_and_nothing_is_lost(tmp_path, monkeypatch, capsys):
    async def begin_and_end():
        service = Service(tmp_path)
        await service.start()
        service.predict({"id": "1", "row": {name: value for name, value in people().iloc[0].to_dict().items()
                                            if name not in ("income", "gender")}})
        await service.feedback({"id": "1", "label": "<=50K"})

        def full(*_):
            raise OSError(28, "No space left on device", "state.json")

        monkeypatch.setattr(saves, "save", full)
        await service.stop()

    asyncio.run(begin_and_end())
    assert "nothing could be saved: [Errno 28] No space left on device: 'state.json'" in capsys.readouterr().err
    monkeypatch.undo()
    again = Service(tmp_path)
    again.open()
    assert again.learner.num_learned == 1
    again.lock.release()


def test_a_prediction_that_cannot_be_kept_is_refused_and_told(tmp_path):
    pending = Pending(tmp_path, 3)

    class Full:
        def write(self, content):
            raise OSError(28, "No space left on device")

    pending.file = Full()
    with pytest.raises(OSError, match=r"No space left on device: .*predictions\.jsonl"):
        pending.add("1", {"row": 1})
    assert pending.get("1") is None
