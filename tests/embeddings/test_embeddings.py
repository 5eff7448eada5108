"""The embedding job: the real loading code, on tiny models and on data made here."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow_datasets as tfds

import aranyani_tf as ar
from aranyani_tf.embeddings.__main__ import main
from aranyani_tf.embeddings.cache import cache_folder
from aranyani_tf.embeddings.clip import MODEL as CLIP
from aranyani_tf.embeddings.clip import ClipEncoder
from aranyani_tf.embeddings.instructor import MODEL as INSTRUCTOR
from aranyani_tf.embeddings.instructor import PROMPT, TextEncoder
from aranyani_tf.embeddings.job import embed
from aranyani_tf.embeddings.sources import celeba_examples, civil_comments_examples
from aranyani_tf.embeddings.weights import PINNED, commit_of, load_weights
from tiny_models import SENTENCES, tiny_clip, tiny_instructor


def prepare(name, data_dir, rows):
    """A dataset on disk as tensorflow-datasets prepares it, with its own features and our rows."""
    builder = tfds.builder(name, data_dir=data_dir)
    Path(builder.data_path).mkdir(parents=True)
    writer = tfds.core.SequentialWriter(builder.info, max_examples_per_shard=64)
    writer.initialize_splits(list(rows))
    writer.add_examples(rows)
    writer.close_all()


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """(folder, labels, groups): 120 small pictures in the format of CelebA."""
    folder = tmp_path_factory.mktemp("celeba")
    features = tfds.builder("celeb_a", data_dir=folder).info.features
    random = np.random.default_rng(0)
    labels, groups = random.integers(0, 2, (2, 120))

    def example(row):
        # A disc whose brightness tells the label, on a ground that tells the group.
        down, right = np.mgrid[:218, :178]
        disc = (down - 109) ** 2 + (right - 89) ** 2 < 60**2
        picture = np.where(disc, 90 + 120 * labels[row], 40 + 60 * groups[row])[..., None] + np.zeros(3)
        return {"image": (picture + random.integers(0, 30, (218, 178, 3))).astype("uint8"),
                "attributes": {name: bool({"Blond_Hair": labels, "Male": groups}.get(name, groups)[row])
                               for name in features["attributes"]},
                "landmarks": dict.fromkeys(features["landmarks"], 1), "identity": {"Identity_No": row}}

    parts = {"train": range(80), "validation": range(80, 100), "test": range(100, 120)}
    prepare("celeb_a", folder, {part: map(example, rows) for part, rows in parts.items()})
    return folder, labels, groups


@pytest.fixture(scope="module")
def comments(tmp_path_factory):
    """Thirty comments in the format of CivilComments: a third each Christian, Muslim, and both."""
    folder = tmp_path_factory.mktemp("comments")
    name = "civil_comments/CivilCommentsIdentities"
    features = tfds.builder(name, data_dir=folder).info.features

    def example(row):
        empty = {key: 0 if np.issubdtype(feature.np_dtype, np.number) else ""
                 for key, feature in features.items()}
        return {**empty, "text": f"{SENTENCES[row % 4]} {SENTENCES[row % 3]}", "id": str(row),
                "toxicity": float(row % 5 == 0), "christian": float(row % 3 != 1), "muslim": float(row % 3 != 0)}

    prepare(name, folder, {"train": map(example, range(30))})
    return folder


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return tiny_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def instructor(tmp_path_factory):
    return tiny_instructor(tmp_path_factory.mktemp("instructor"))


def run(arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


def test_a_job_killed_half_way_goes_on_and_gives_the_same_bytes(images, clip, tmp_path):
    data, labels, groups = images
    options = ["celeba", "--clip", clip, "--data-dir", data, "--batch-size", 4, "--shard-size", 8]
    assert run([*options, "--output", tmp_path / "whole"]) == 0

    shards = tmp_path / "killed" / "celeba" / "shards"
    job = subprocess.Popen([sys.executable, "-m", "aranyani_tf.embeddings", *map(str, options), "--output",
                            str(tmp_path / "killed")], stderr=subprocess.PIPE)
    while len(list(shards.glob("features-*.npy"))) < 3:
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.002)
    os.kill(job.pid, signal.SIGKILL)
    job.communicate()
    finished = {file.name: file.stat().st_mtime_ns for file in shards.glob("*.npy")}
    assert not (shards.parent / "manifest.json").exists()
    with pytest.raises(FileNotFoundError, match="not finished"):
        ar.datasets.load("celeba", embeddings=shards.parent)

    class Counting(ClipEncoder):
        num_encoded = 0

        def __call__(self, batch):
            self.num_encoded += len(batch)
            assert all((shards / name).stat().st_mtime_ns == finished[name] for name in finished)
            return super().__call__(batch)

    encoder, (examples, num_rows, name) = Counting(clip), celeba_examples(data)
    embed(examples, encoder, shards.parent, dataset=name, num_rows=num_rows, batch_size=4, shard_size=8,
          progress=False)
    num_done = 8 * sum(name.startswith("features") for name in finished)
    assert encoder.num_encoded == 120 - num_done  # the rest, and nothing twice
    for name in ("features.npy", "labels.npy", "groups.npy", "manifest.json"):
        assert (shards.parent / name).read_bytes() == (tmp_path / "whole" / "celeba" / name).read_bytes(), name
    assert sorted(file.name for file in shards.parent.iterdir()) == [
        "features.npy", "groups.npy", "labels.npy", "manifest.json"]

    stream = ar.datasets.load("celeba", embeddings=shards.parent)
    np.testing.assert_array_equal(stream.labels, labels)
    np.testing.assert_array_equal(stream.groups, groups)


def test_clip_s_embeddings_are_the_library_s_own(images, clip):
    import torch
    from transformers import CLIPImageProcessor, CLIPModel
    rows = tfds.builder("celeb_a", data_dir=images[0]).as_dataset(split="test").take(3).as_numpy_iterator()
    pictures = [row["image"] for row in rows]
    pixels = CLIPImageProcessor.from_pretrained(clip)(images=pictures, return_tensors="pt")["pixel_values"]
    model = CLIPModel.from_pretrained(clip).eval()
    with torch.inference_mode():
        expected = model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)
    np.testing.assert_allclose(ClipEncoder(clip)(pictures), expected, atol=1e-6)


def test_comments_of_one_religion_are_embedded_with_the_paper_s_prompt(comments, instructor, tmp_path, capsys):
    assert run(["civil_comments", "--instructor", instructor, "--data-dir", comments, "--output", tmp_path]) == 0
    assert ("20 rows of 12 features (paper: 33.9K rows); toxic 20.0 % (paper: 6.6 %), Muslim 50.0 % (paper: 23.4 %)"
            in capsys.readouterr().out)
    stream = ar.datasets.load("civil_comments", embeddings=tmp_path / "civil_comments")
    rows = [row for row in range(30) if row % 3 != 2]  # every third names both
    np.testing.assert_array_equal(stream.groups, [row % 3 == 1 for row in rows])
    np.testing.assert_array_equal(stream.labels, [row % 5 == 0 for row in rows])
    np.testing.assert_allclose(np.linalg.norm(stream.features, axis=1), 1, atol=1e-3)
    manifest = json.loads((tmp_path / "civil_comments" / "manifest.json").read_text())
    assert manifest["prompt"] == PROMPT and manifest["num_rows"] == 20 and manifest["encoder"] == str(instructor)
    assert np.load(tmp_path / "civil_comments" / "features.npy").dtype == np.float16
    assert [text for text, _, _ in civil_comments_examples(comments)[0](18)] == [
        f"{SENTENCES[row % 4]} {SENTENCES[row % 3]}" for row in rows[18:]]


@pytest.mark.parametrize("prompt", ["toxic or not toxic", " toxic or not toxic "])
def test_the_prompt_is_joined_without_a_space_as_upstream_does_and_read_but_not_pooled(instructor, prompt):
    """Against mean pooling by hand over the tokens of the text alone."""
    import torch
    encoder, text = TextEncoder(instructor, prompt=prompt), "a fair tree"
    transformer, dense = encoder.model[0], encoder.model[2]
    tokens = transformer.tokenizer("toxic or not toxica fair tree", return_tensors="pt")
    length = len(transformer.tokenizer("toxic or not toxic", add_special_tokens=False)["input_ids"])
    with torch.inference_mode():
        states = transformer.model(**tokens).last_hidden_state[0, length:].mean(dim=0)
        expected = torch.tanh(dense.linear(states))
    np.testing.assert_allclose(encoder([text])[0], expected / expected.norm(), atol=1e-5)
    np.testing.assert_array_equal(encoder([text]), encoder([f"  {text} \n"]))
    without = TextEncoder(instructor, prompt=None)([text])[0]
    assert np.abs(encoder([text])[0] - without).max() > 1e-3
    assert encoder.facts["prompt"] == "toxic or not toxic" and PROMPT.strip() == PROMPT


def test_another_encoder_may_not_add_to_a_folder(instructor, tmp_path):
    examples = lambda start: iter([("a fair tree", 0, 1), ("toxic", 1, 0)][start:])  # noqa: E731
    embed(examples, TextEncoder(instructor), tmp_path, dataset="toy", progress=False)
    with pytest.raises(ValueError, match="prompt"):
        embed(examples, TextEncoder(instructor, prompt=None), tmp_path, dataset="toy", progress=False)


class Lengths:
    """An encoder whose work can be counted."""

    facts = {"encoder": "lengths"}  # noqa: RUF012

    def __init__(self):
        self.num_encoded = 0

    def __call__(self, texts):
        self.num_encoded += len(texts)
        return np.array([[len(text), 1] for text in texts])


def numbered(start, stop=100):
    return iter([("x" * (row + 1), row % 2, row % 3 == 0) for row in range(stop)][start:])


def test_a_source_that_ends_early_is_told_and_a_damaged_shard_made_again(tmp_path):
    options = {"dataset": "toy", "num_rows": 100, "shard_size": 30, "batch_size": 7, "progress": False}
    with pytest.raises(ValueError, match="toy ended after 70 rows of 100"):
        embed(lambda start: numbered(start, 70), Lengths(), tmp_path, **options)
    shard = tmp_path / "shards" / "features-00001.npy"
    shard.write_bytes(shard.read_bytes()[:-5])
    encoder = Lengths()
    manifest = embed(numbered, encoder, tmp_path, **options)
    assert encoder.num_encoded == 70 and manifest["num_rows"] == 100 and manifest["num_skipped"] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "features.npy")[:, 0], np.arange(1, 101))
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), np.arange(100) % 2)
    assert embed(numbered, encoder, tmp_path, **options) == manifest and encoder.num_encoded == 70
    with pytest.raises(ValueError, match="shard_size must be a whole number"):
        embed(numbered, encoder, tmp_path, **(options | {"shard_size": 0}))


def test_a_folder_with_half_of_a_model_is_refused(instructor, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((instructor / name).read_bytes())
    with pytest.raises(OSError, match=r"no modules.json"):
        TextEncoder(tmp_path)
    (tmp_path / "modules.json").write_bytes((instructor / "modules.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"short")
    with pytest.raises(OSError, match=r"lacks a file or has one that cannot be read"):
        TextEncoder(tmp_path)


class Broken(Lengths):
    """Cannot encode some lengths: one raises and takes its batch along, one gives zeros, one NaN."""

    def __call__(self, texts):
        features = super().__call__(texts).astype("float32")
        if any(len(text) == 12 for text in texts):
            raise IndexError("index out of range in self")
        return np.where(features[:, :1] == 41, 0, np.where(features[:, :1] == 70, np.nan, features))


def test_rows_that_cannot_be_encoded_are_left_out_and_counted_also_by_a_job_that_was_interrupted(tmp_path):
    options = {"dataset": "toy", "num_rows": 100, "shard_size": 30, "batch_size": 7, "progress": False}
    manifest = embed(numbered, Broken(), tmp_path / "whole", **options)
    assert manifest["num_rows"] == 97 and manifest["num_skipped"] == 3 and manifest["skipped_rows"] == [11, 40, 69]
    kept = np.delete(np.arange(100), [11, 40, 69])
    np.testing.assert_array_equal(np.load(tmp_path / "whole" / "features.npy")[:, 0], kept + 1)
    np.testing.assert_array_equal(np.load(tmp_path / "whole" / "labels.npy"), kept % 2)
    np.testing.assert_array_equal(np.load(tmp_path / "whole" / "groups.npy"), kept % 3 == 0)
    with pytest.raises(ValueError, match="ended after 65 rows"):
        embed(lambda start: numbered(start, 65), Broken(), tmp_path / "again", **options)
    embed(numbered, Broken(), tmp_path / "again", **options)
    for name in ("features.npy", "labels.npy", "groups.npy", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_shard_of_nothing_but_a_bad_row_is_passed_over(tmp_path):
    manifest = embed(lambda start: numbered(start, 12), Broken(), tmp_path, dataset="toy", shard_size=1, progress=False)
    assert manifest["num_rows"] == 11 and manifest["skipped_rows"] == [11]


@pytest.mark.parametrize("num_rows", [1, 40])
def test_an_encoder_that_encodes_nothing_is_told_and_no_row_is_blamed_in_silence(tmp_path, num_rows):
    class Zeros:
        facts = {}  # noqa: RUF012

        def __call__(self, batch):
            return np.zeros((len(batch), 3))

    with pytest.raises(ValueError, match=r"no row of toy|40 of the first 40 rows of toy.*Row 0: .*only zeros"):
        embed(lambda start: numbered(start, num_rows), Zeros(), tmp_path, dataset="toy", progress=False)
    assert not (tmp_path / "manifest.json").exists()


def test_hub_models_are_pinned_unless_another_revision_is_asked_for():
    asked = []

    def load(model, **options):
        asked.append(options)

    for model, revision in ((CLIP, None), (INSTRUCTOR, None), (CLIP, "abc"), ("somebody/other", None)):
        load_weights(load, model, revision)
    pinned = [{"revision": PINNED[CLIP]}, {"revision": PINNED[INSTRUCTOR]}]
    assert asked == [*pinned, {"revision": "abc"}, {}]
    assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in PINNED.values())
    assert commit_of(object(), CLIP, None) == PINNED[CLIP]


def test_missing_weights_and_damaged_embeddings_say_what_to_do(clip, images, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    broken = tmp_path / "broken"
    broken.mkdir()
    assert run(["celeba", "--clip", broken, "--data-dir", images[0], "--output", tmp_path]) == 1
    message = capsys.readouterr().err
    assert str(broken) in message and "config.json" in message and "pass that folder" in message

    assert run(["celeba", "--clip", clip, "--data-dir", images[0], "--output", tmp_path]) == 0
    features = tmp_path / "celeba" / "features.npy"
    features.write_bytes(features.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"features.npy is damaged.*make it again"):
        ar.datasets.load("celeba", embeddings=tmp_path / "celeba")

    file = tmp_path / "short.npz"
    np.savez(file, features=np.ones((40, 3), "float16"), labels=np.zeros(40, "int8"), groups=np.zeros(40, "int8"))
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(ValueError, match=r"short.npz cannot be used"):
        ar.datasets.load("celeba", embeddings=file)
    file.write_text("features")
    with pytest.raises(ValueError, match=r"short.npz cannot be used"):
        ar.datasets.load("celeba", embeddings=file)
    np.savez(file, features=np.ones((4, 3)))
    with pytest.raises(ValueError, match="no array labels, groups"):
        ar.datasets.load("celeba", embeddings=file)
    np.savez(file, features=np.ones((4, 3)), labels=np.zeros(3), groups=np.zeros(4))
    with pytest.raises(ValueError, match="4 rows of features, but labels"):
        ar.datasets.load("celeba", embeddings=file)
    np.savez(file, features=np.ones((4, 3)), labels=np.array([-1, 1, 1, 1]), groups=np.zeros(4))
    with pytest.raises(ValueError, match=r"labels must be 0 \(not blond\), 1 \(blond\); row 0 has -1"):
        ar.datasets.load("celeba", embeddings=file)
    np.save(tmp_path / "single.npy", np.ones(3))
    with pytest.raises(ValueError, match=r"single.npy cannot be used"):
        ar.datasets.load("celeba", embeddings=tmp_path / "single.npy")
    (tmp_path / "celeba" / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match=r"manifest.json is damaged"):
        ar.datasets.load("celeba", embeddings=tmp_path / "celeba")
    monkeypatch.setenv("ARANYANI_CACHE", str(tmp_path / "nothing"))
    with pytest.raises(FileNotFoundError, match=r"make embeddings.*embeddings=PATH"):
        ar.datasets.load("civil_comments")


def test_the_cache_is_the_user_s_unless_it_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("ARANYANI_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    if sys.platform == "linux":
        assert cache_folder("celeba") == tmp_path / ".cache" / "aranyani_tf" / "celeba"
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        assert cache_folder("celeba") == tmp_path / "cache" / "aranyani_tf" / "celeba"
    monkeypatch.setenv("ARANYANI_CACHE", str(tmp_path / "own"))
    assert cache_folder("celeba") == tmp_path / "own" / "celeba"
