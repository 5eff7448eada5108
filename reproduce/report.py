"""`make report`: one page with all results, to be read without a network -> results/index.html."""

import quiet  # noqa: F401

import argparse
from pathlib import Path
from string import Template

from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.sums import exit_if_damaged
from page import claims, field, headline, pictures, records, scatter
from page.elements import joined, tag

TEMPLATES = Path(__file__).parent / "page" / "templates"
SECTIONS = (("accuracy", "Accuracy at the same fairness", headline.headline),
            ("trade-off", "Figure 2, point by point", scatter.figure2),
            ("field", "The field: which method at which gap", field.field),
            ("figures", "Every figure", pictures.figures),
            ("tables", "Tables, memory and speed", records.tables),
            ("bounds", "Bounds", records.bounds),
            ("claims", "Claims", claims.all_claims),
            ("environment", "Which run made what", records.environment))


def page(folder: Path) -> str:
    """The whole page; the same files give the same bytes."""
    sections = [tag("section", tag("h2", title), build(folder), id=name) for name, title, build in SECTIONS]
    links = [tag("li", tag("a", title, href=f"#{name}")) for name, title, _ in SECTIONS]
    template, style, script = ((TEMPLATES / f"page.{kind}").read_text(encoding="utf-8")
                               for kind in ("html", "css", "js"))
    return Template(template).substitute(style=style, script=script, score=claims.score(folder),
                                         links=joined(links), sections=joined(sections, "\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    folder = parser.parse_args().results
    exit_if_damaged(folder)
    text = page(folder)
    with whole_file(folder / "index.html", "w") as file:
        file.write(text)
    print(f"→ {folder / 'index.html'}, {len(text.encode()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
