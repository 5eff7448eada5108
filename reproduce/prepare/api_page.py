"""`make docs`: the API page out of the docstrings, by pdoc, into docs/api/; it needs no network, nor do its readers.

The first page has the names of `import aranyani_tf as ar`, the most used ones first; beside it are all modules.

    PYTHONPATH=reproduce python -m prepare.api_page [FOLDER]
"""

import quiet  # noqa: F401

import inspect
import pkgutil
import shutil
import sys
import warnings
from pathlib import Path

import pdoc

import aranyani_tf as ar

FOLDER = Path(__file__).parents[2] / "docs" / "api"
FIRST = ("Aranyani", "Grove", "Stream", "datasets", "learn_stream", "ObliqueForest")
EVERYDAY = ("__init__", "compile", "fit", "predict", "predict_then_learn", "so_far", "fairness_weight",
            "gradient_norms", "evaluate", "save", "save_weights", "load_weights", "export", "model")


def module_names():
    """The package and every module in it, but for those that are run."""
    found = pkgutil.walk_packages(ar.__path__, "aranyani_tf.")
    return ["aranyani_tf", *sorted(each.name for each in found if not each.name.endswith("__main__"))]


def is_for_readers(doc):
    """Whether a name is shown: a module, or what has a docstring of its own, and no underscore.

    What has none is a hook that Keras calls, or an attribute that its class explains among the arguments.
    """
    if doc.name == "__init__":
        return bool(doc.signature_without_self.parameters)
    own = inspect.unwrap(doc.obj).__doc__ if doc.kind == "function" else doc.docstring
    return not doc.name.startswith("_") and (doc.kind in ("class", "module") or bool(own))


def members(of_class, is_first_page):
    """What to tell of a class, its everyday names first; on the first page also those that it has from its bases."""
    own = {doc.name for doc in of_class.own_members}
    found = [doc for doc in of_class.members.values() if is_for_readers(doc) and (
        doc.name in own or (is_first_page and doc.name in EVERYDAY and doc.taken_from[0].startswith("aranyani_tf")))]
    return sorted(found, key=lambda doc: EVERYDAY.index(doc.name) if doc.name in EVERYDAY else len(EVERYDAY))


def modules_in(module, names):
    """Names of the modules that lie in this one, not deeper."""
    return [name for name in names if name.rpartition(".")[0] == module]


def main(folder=FOLDER):
    ar.__all__ = sorted(ar.__all__, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name.lower()))
    pdoc.render.env.filters |= {"is_for_readers": is_for_readers, "members": members, "modules_in": modules_in}
    pdoc.render.configure(docformat="google", footer_text=f"aranyani_tf {ar.__version__}",
                          template_directory=Path(__file__).parent / "api_templates")
    shutil.rmtree(folder, ignore_errors=True)  # pages of modules that are no more
    with warnings.catch_warnings():  # some modules come with their folder too, others only by name
        warnings.filterwarnings("ignore", "The module specification", UserWarning)
        pdoc.pdoc(*module_names(), output_directory=Path(folder))
    print(f"→ {Path(folder) / 'index.html'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
