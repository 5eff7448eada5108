"""`make architecture`: draws the folders and the arrows between them, from the imports, for docs/architecture.md.

    PYTHONPATH=reproduce python -m prepare.architecture      # → docs/architecture.svg, and the tables of the page
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from prepare.architecture_picture import names_of, picture

ROOT = Path(__file__).parents[2]
OPENING, CLOSING = "<!-- made by `make architecture` -->", "<!-- until here -->"
GROUND, SCRIPTS = "single files", "scripts"


@dataclass
class Part:
    """`aranyani_tf/` or `reproduce/`, as boxes with arrows from importer to imported.

    Args:
        name: of the folder.
        boxes: name → its files. A box is a folder, or a file beside the folders; but those files that import nothing
            except each other are one box, `GROUND`, and in `reproduce/` all other files are one, `SCRIPTS`.
        purposes: name → what it is for, the first line of its docstring, or of those of its files.
        imports: name → the boxes that it imports; those of the other part as "part/box", or "part" itself.
    """

    name: str
    boxes: dict
    purposes: dict
    imports: dict

    def layers(self):
        """The boxes but for the ground, in layers: each one lies above all that it imports."""
        left = {box: {other for other in self.imports[box] if other in self.boxes} - {GROUND}
                for box in self.boxes if box != GROUND}
        layers = []
        while left:
            layers.append(sorted(box for box, others in left.items() if not others & set(left)))
            if not layers[-1]:
                raise ValueError(f"folders of {self.name}/ import each other in a circle: {', '.join(sorted(left))}")
            left = {box: others for box, others in left.items() if box not in layers[-1]}
        return layers


def read_parts(root=ROOT):
    """The parts as they are on disk, those that are imported first."""
    trees = {}  # ("aranyani_tf", "forest", "routing") → its syntax tree
    for name in ("aranyani_tf", "reproduce"):
        for path in sorted((Path(root) / name).rglob("*.py")):
            module = path.relative_to(root).with_suffix("").parts
            trees[module[:-1] if module[-1] == "__init__" else module] = ast.parse(path.read_text(encoding="utf-8"))
    imports = {module: {found for name in imported_names(tree) if (found := module_of(name, trees))}
               for module, tree in trees.items()}
    return [part_of("aranyani_tf", trees, imports), part_of("reproduce", trees, imports)]


def imported_names(tree):
    """Everything that a file imports, with dots: modules, and names out of modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name, trees):
    """Which module of ours a name comes from, or () for other people's."""
    module = tuple(name.split("."))
    if module[0] != "aranyani_tf":
        module = ("reproduce", *module)  # that folder is on the path when its scripts run
    while module and module not in trees:
        module = module[:-1]  # the end of the name is a class or a function
    return module


def part_of(name, trees, imports):
    """The boxes of one part."""
    own = [module for module in trees if module[0] == name and len(module) > 1]
    folders = {module[1] for module in own if len(module) > 2}
    ground = {module[:2] for module in own if module[1] not in folders}
    while above := {file for file in ground if not imports[file] <= ground}:
        ground -= above

    def box_of(module):
        if module[0] != name or len(module) == 1:
            return "/".join(module[:2])
        return GROUND if module in ground else module[1] if module[1] in folders or name != "reproduce" else SCRIPTS

    part = Part(name, {}, {}, {})
    for module in own:
        box, docstring = box_of(module), ast.get_docstring(trees[module])
        files, purpose = part.boxes.setdefault(box, []), docstring.splitlines()[0]
        if module[1:] != (box,):
            files.append(module[-1])
        else:
            part.purposes[box] = purpose
        if box == GROUND:
            part.purposes.setdefault(box, {})[module[-1]] = purpose
        part.imports[box] = part.imports.get(box, set()) | {box_of(found) for found in imports[module]} - {box}
    return part


def tables(parts):
    """What each box is for and what it imports, as Markdown."""
    lines = []
    for part in parts:
        order = [GROUND, *(box for layer in part.layers() for box in layer)]
        lines += [f"| `{part.name}/` | What it is for | Imports |", "|---|---|---|"]
        for box in (box for box in order if box in part.boxes):
            purpose = part.purposes.get(box) or ", ".join(names_of(part.boxes[box]))
            if box == GROUND:
                purpose = "<br>".join(f"**{file}**: {words}" for file, words in purpose.items())
            inner = [other for other in order if other in part.imports[box]]
            imports = [*([", ".join(inner)] if inner else []), *others(part, box)]
            lines.append(f"| **{box}** | {purpose} | {'; '.join(imports) or '–'} |")
        lines.append("")
    return "\n".join(lines)


def others(part, box):
    """What a box imports of the other part, if anything."""
    found = sorted(part.imports[box] - set(part.boxes))
    for name in sorted({each.split("/")[0] for each in found}):
        inner = [each.split("/")[1] for each in found if each.startswith(f"{name}/")]
        yield f"`{name}`" + (f" and, inside it, {', '.join(inner)}" if inner else "")


def page(text, parts):
    """The page with its tables made again, between the two marks."""
    before, _, rest = text.partition(OPENING)
    _, closing, after = rest.partition(CLOSING)
    if not closing:
        raise ValueError(f"the page has no place for the tables: {OPENING} … {CLOSING}")
    return f"{before}{OPENING}\n\n{tables(parts)}\n{CLOSING}{after}"


def main(root=ROOT):
    docs, parts = Path(root) / "docs", read_parts(root)
    drawn, written = picture(parts, GROUND), page((docs / "architecture.md").read_text(encoding="utf-8"), parts)
    for name, content in (("architecture.svg", drawn), ("architecture.md", written)):
        (docs / name).write_text(content, encoding="utf-8", newline="\n")
        print(f"→ docs/{name}")


if __name__ == "__main__":
    main()
