"""The lock files: what each set-up of the Makefile installs, in the versions of constraints.txt, with sha256 hashes.

`make lock` writes locks/*.txt anew, with a network; to be run after a change of constraints.txt or of what setup.py
asks for. uv resolves and looks the hashes up, in an environment of its own that is thrown away. A lock has all files
of a version, for all kinds of machines, and names no package index: pip asks the one that it is set up for.

A file has what locks/setup.txt lacks, since `make setup` comes first. PyTorch is two builds of one version, of which
the Makefile installs one after locks/everything.txt:

- the CPU build (locks/torch_cpu.txt), which no package index has, where pip is told of a folder that has it
  (PIP_FIND_LINKS);
- the public build else, which needs NVIDIA's packages, some GB (locks/cuda.txt).

They cannot be in one file: pip prefers what an index has a hash of, and would take the public build everywhere.
"""

import re
import subprocess
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

from aranyani_tf.files import whole_file
from harness import ROOT

UV = "uv==0.13.8"
PYTHON = "3.11"  # the version that constraints.txt is tested with
LOCKS = ROOT / "locks"
CUDA, CPU = "cuda", "torch_cpu"
FIRST = "setup"
TARGETS = {  # file → extras of setup.py
    FIRST: ("baselines", "reproduce"),
    "service": ("reproduce", "service"),
    "docs": ("docs",),
    "everything": ("baselines", "embeddings", "export", "reproduce", "service", "test")}
TORCH = "torch"
TORCH_CPU = ("2.13.0",  # torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl
             "sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b")
HEADER = "# Written by `make lock`; not to be edited. pip install --require-hashes --no-deps -r {name}\n"


def blocks_of(text: str) -> dict[str, str]:
    """Name → its lines in a lock file, the pin and its hashes.

    >>> blocks_of("# who wrote it\\na==1 \\\\\\n    --hash=sha256:00\\nb-c==2 \\\\\\n    --hash=sha256:11\\n")["b-c"]
    'b-c==2 \\\\\\n    --hash=sha256:11\\n'
    """
    return {block[: block.index("==")]: block for block in re.findall(r"^\S+==.*\n(?:    --hash.*\n)*", text,
                                                                       re.MULTILINE)}


def pins_of(text: str) -> dict[str, str]:
    """Name → version, of constraints.txt or of a lock file."""
    return {canonicalize_name(name): version
            for name, version in re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.MULTILINE)}


def compiled(uv: Path, source: str, extras: Iterable[str] = ()) -> dict[str, str]:
    """The blocks of all that a setup.py, or a file of requirements, brings along."""
    asked = [part for extra in extras for part in ("--extra", extra)]
    result = subprocess.run(
        [uv, "pip", "compile", source, *asked, "--constraint", "constraints.txt", "--generate-hashes",
         "--python-version", PYTHON, "--python-platform", "linux", "--no-header", "--no-annotate",
         "--no-emit-index-url", "--no-emit-find-links", "--quiet"], cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"uv found no set of packages for {source} {' '.join(extras)}:\n{result.stderr}")
    return blocks_of(result.stdout)


def split(resolved: dict[str, dict[str, str]], with_torch: Iterable[str],
          pins: dict[str, str]) -> dict[str, dict[str, str]]:
    """File → its blocks: what `setup` has is in no other; torch, and what it alone needs, are in files of their own.

    Args:
        resolved: target → blocks of all that it needs.
        with_torch: names of torch and of what it brings along.
        pins: name → version, of constraints.txt.
    """
    everything = {name: block for blocks in resolved.values() for name, block in blocks.items()}
    companions = set(with_torch) - set(pins)
    if unpinned := sorted(set(everything) - set(pins) - companions):
        found = ", ".join(everything[name].split()[0] for name in unpinned)
        raise SystemExit(f"constraints.txt does not have {found}, which setup.py asks for; put them there")
    if unused := sorted(set(pins) - set(everything)):
        raise SystemExit(f"constraints.txt has {', '.join(unused)}, which nothing asks for; take them out")
    apart = companions | {TORCH}
    files = {target: {name: block for name, block in blocks.items()
                      if name not in apart and (target == FIRST or name not in resolved[FIRST])}
             for target, blocks in resolved.items()}
    return files | {CUDA: {name: everything[name] for name in apart}, CPU: {TORCH: cpu_build(pins[TORCH])}}


def cpu_build(version: str) -> str:
    """The lines of torch's CPU build."""
    known, sha256 = TORCH_CPU
    if version != known:
        raise SystemExit(f"constraints.txt has {TORCH}=={version}, and TORCH_CPU in {Path(__file__).name} is of "
                         f"{known}: put the sha256 of the CPU build of the new version there")
    return f"{TORCH}=={version} \\\n    --hash={sha256}\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_folder, torch = Path(folder) / "bin", Path(folder) / "torch.in"
        subprocess.run([bin_folder / "pip", "install", "--quiet", "--disable-pip-version-check", UV], check=True)
        uv = bin_folder / "uv"
        resolved = {target: compiled(uv, "setup.py", extras) for target, extras in TARGETS.items()}
        torch.write_text(f"{TORCH}\n", encoding="utf-8")
        files = split(resolved, compiled(uv, str(torch)), pins_of((ROOT / "constraints.txt").read_text("utf-8")))
    for target, blocks in files.items():
        path = LOCKS / f"{target}.txt"
        with whole_file(path, "w") as file:
            file.write(HEADER.format(name=path.relative_to(ROOT)) + "".join(blocks[name] for name in sorted(blocks)))
        print(f"→ {path.relative_to(ROOT)}: {len(blocks)} packages")


if __name__ == "__main__":
    main()
