"""`make report`: the page has every section, says what the files say, and works in a browser, wide and narrow."""

import html
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import report
from harness import ROOT
from page import elements, headline, markdown, pictures, scatter

CHECK = ROOT / "tests" / "support" / "page_check.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "img", "path", "polyline", "br", "link", "input"}
VERDICTS = {"holds": 3, "in part": 2, "does not hold": 1, "undecided": 1, "cannot be tested here": 1}


def matched_row(dataset, method, gap, accuracy, **others):
    return {"dataset": dataset, "preprocessing": "released", "method": method, "rule": "released", "decay": None,
            "drop_group": False, "order": "file", "demographic_parity": gap, "accuracy": accuracy,
            "low": accuracy - 0.01, "high": accuracy + 0.01, "accuracy_std": 0.01, "seeds": 5, "bound": True} | others


def matched_rows():
    for gap, more in ((0.05, 0), (0.1, 0.02)):
        yield matched_row("adult", "aranyani", gap, 0.8 + more)
        yield matched_row("adult", "leaf", gap, 0.81 + more, decay=0.01)
        yield matched_row("adult", "mlp", gap, 0.79 + more, bound=False)
        yield matched_row("adult", "ht", gap, 0.7777 + more, rule="none", order="shuffled")
        yield matched_row("adult", "ht", gap, 0.7111 + more, rule="none")
        yield matched_row("adult", "aranyani", gap, 0.7222 + more, rule="paper")
        yield matched_row("adult", "aranyani", gap, 0.7333 + more, drop_group=True)
        yield matched_row("compas", "aranyani", gap, 0.6 + more, preprocessing="standardized")


def record(method, weight, seed, step, accuracy, gap, **others):
    return {"dataset": "adult", "preprocessing": "released", "method": method, "rule": "released",
            "fairness_weight": weight, "seed": seed, "step": step, "accuracy": accuracy, "demographic_parity": gap,
            "probability": None, "drop_group": False, "order": "file"} | others


def records():
    for seed in (0, 1):
        for index, weight in enumerate((0.0, 0.1, 1.0)):
            for step in (100, 200):
                yield record("aranyani", weight, seed, step, 0.84 - 0.02 * index + 0.002 * seed, 0.2 - 0.05 * index)
            yield record("mlp_released", weight, seed, 200, 0.83 - 0.01 * index, 0.21 - 0.01 * index)
        yield record("majority", 0.0, seed, 200, 0.76, 0.0, probability=0.0)
        yield record("majority", 0.0, seed, 200, 0.80, 0.1, probability=0.5)
        yield record("ht", 0.0, seed, 200, 0.81, 0.15, rule="none", order="shuffled")
        yield record("ht", 0.0, seed, 200, 0.11, 0.95, rule="none")


def field_rows():
    """Two methods without the group, of which one keeps the smaller gap, and one with it."""
    for target in (0.1, 0.05):
        for method, needed, accuracy, gap in (("aranyani", "to learn", 0.82, 0.049), ("ht", "never", 0.84, 0.1),
                                              ("thresholds", "to predict", 0.83, 0.04)):
            keeps = gap <= 1.2 * target
            best = {"thresholds": "thresholds"}.get(method, "ht" if target == 0.1 else "aranyani")
            yield {"dataset": "adult", "preprocessing": "one_hot", "groups": None, "notion": "demographic_parity",
                   "target": target, "method": method, "group_needed": needed, "accuracy": accuracy,
                   "low": accuracy - 0.01, "high": accuracy + 0.01, "gap": gap, "late_gap": gap, "window_gap": gap,
                   "keeps": keeps, "state_bytes": None if method == "ht" else 12_345, "rows_per_second": 1234.5,
                   "best": best, "to_best": None if method == best else -0.02, "among_best": method == best}


def write(folder):
    """Small files in the place of all that the page is made from."""
    results, docs = folder / "results", folder / "docs"
    results.mkdir(parents=True)
    docs.mkdir()
    verdicts = [name for name, count in VERDICTS.items() for _ in range(count)]
    pd.DataFrame([{"id": index + 1, "place": "Section 5", "claim": f"a < b & `c`, claim {index}", "paper": "3 times",
                   "computed_from": "figure2.csv", "ours": 0.123456, "low": 0.1, "high": 0.2, "verdict": name,
                   "deviation": ""} for index, name in enumerate(verdicts)]).to_csv(results / "claims.csv", index=False)
    pd.DataFrame(matched_rows()).to_csv(results / "matched.csv", index=False)
    pd.DataFrame(records()).to_csv(results / "figure2.csv", index=False)
    field = pd.DataFrame(field_rows())  # in the order of the ranking
    field.sort_values(["target", "keeps", "accuracy"], ascending=False).to_csv(results / "field.csv", index=False)
    Image.new("RGBA", (2000, 500), "#009E7380").save(results / "figure2.png")
    Image.new("RGB", (40, 20), "red").save(results / "drift.png")
    (results / "README.md").write_text(
        "# Results\n\n## figure2\n\nFigure 2: a trade-off.\n\n![figure2](figure2.png)\n\nAccuracy is 1 < 2.\n\n"
        "| a | b |\n|---|---|\n| `x` | 1 |\n\n- one\n- two\n\n## drift\n\nDrift \"twice\".\n\n![drift](drift.png)\n\n"
        "It drifts.\n\n## rules\n\nRules.\n\n![rules](rules.png)\n\nNo picture.\n", encoding="utf-8")
    pd.DataFrame([{"dataset": "adult", "rows": 32561, "paper_thousand_rows": 32.5}]).to_csv(
        results / "table1.csv", index=False)
    pd.DataFrame([{"method": "HT", "seconds": 1.5}]).to_csv(results / "table2.csv", index=False)
    pd.DataFrame([{"contender": "aranyani", "seed": seed, "rows": 9, "peak_megabytes": 700 + seed}
                  for seed in range(2)]).to_csv(results / "memory.csv", index=False)
    shutil.copy(ROOT / "results" / "benchmark.csv", results)
    (docs / "theory.md").write_text("# Theory\n\n| Lemma | Holds |\n|---|---|\n| [1](theory.md#one) | no |\n",
                                    encoding="utf-8")
    (results / "environment.json").write_text(json.dumps([
        {"made": ["figure2", "drift"], "versions": {"python": "3.11.7"}, "commit": "0123456789abcdef",
         "seeds": [0, 1, 2], "uncommitted_changes": False, "duration_seconds": 1383.6, "machine": {"cores": 2}},
        {"made": [], "versions": {}, "commit": "forgotten"}]), encoding="utf-8")
    return results


class Reader(html.parser.HTMLParser):
    """Notes which elements are open, what is loaded, and ids; a tag that closes another is an error."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.ids, self.links = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.loads += [given[name] for name in ("src", "srcset", "data", "xlink:href") if name in given]
        self.loads += [given["href"]] if tag != "a" and "href" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def text(results):
    return report.page(results)


def section(text, name):
    return re.search(rf'<section id="{name}">.*?\n?(?=<section id=|</main>)', text, flags=re.DOTALL)[0]


def test_the_page_is_well_formed_has_all_sections_and_loads_nothing(text):
    reader = read(text)
    assert [name for name in reader.ids if name in dict.fromkeys(each[0] for each in report.SECTIONS)] == [
        "accuracy", "trade-off", "field", "figures", "tables", "bounds", "claims", "environment"]
    assert len(reader.ids) == len(set(reader.ids))
    assert all(load.startswith("data:image/png;base64,") for load in reader.loads) and len(reader.loads) == 2
    assert "http://" not in text and "https://" not in text and "@import" not in text and "url(" not in text
    assert "nan" not in elements.plain(elements.Html(text.split("<script>")[0])).lower().split()
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)


def test_the_same_files_give_the_same_bytes_and_no_path(results, text, tmp_path):
    again = write(tmp_path / "elsewhere")
    assert report.page(again) == text
    assert str(tmp_path) not in text and str(ROOT) not in text and str(Path.home()) + "/" not in text


def test_the_score_counts_the_verdicts_of_the_file(results, text, tmp_path):
    assert ("Of 8 claims of the paper 3 hold, 2 hold in part, 1 does not hold, 1 is undecided and "
            "1 cannot be tested here.") in text
    tampered = shutil.copytree(results, tmp_path / "results")
    claims = pd.read_csv(tampered / "claims.csv")
    claims.loc[0, "verdict"] = "does not hold"
    claims.loc[1, "verdict"] = "of another kind"
    claims.to_csv(tampered / "claims.csv", index=False)
    changed = report.page(tampered)
    assert ("Of 8 claims of the paper 1 holds, 2 hold in part, 2 do not hold, 1 is undecided, 1 cannot be tested here "
            "and 1 is “of another kind”.") in changed
    read(changed)


def test_claims_are_shown_as_text_with_their_numbers(text):
    claims = section(text, "claims")
    assert claims.count("<tr") == 1 + 8 and "a &lt; b &amp; <code>c</code>, claim 0" in claims
    assert "0.1235" in claims and "0.1 to 0.2" in claims and "✗ does not hold" in claims
    assert 'data-verdict="in part"' in claims and "in part 2</button>" in claims


def test_each_dataset_has_a_card_with_usual_rows_only(text):
    cards = section(text, "accuracy").split("<details")[0]
    shown = elements.plain(elements.Html(cards))
    assert "Aranyani the paper's method" in shown and cards.count('class="marked"') == 2
    assert "80.00 79.00 to 81.00" in shown and "79.00† 78.00 to 80.00" in shown
    assert "Leaf, decay 0.01" in shown and "COMPAS, standardized" in shown
    assert "77.77" in shown and not any(number in shown for number in ("71.11", "72.22", "73.33"))
    assert shown.index("Leaf, decay 0.01") < shown.index("Aranyani the paper's method") < shown.index("MLP")
    assert "All 16 rows" in text and "0.7333" in section(text, "accuracy")


def test_a_setting_that_is_not_usual_is_part_of_a_row_s_name():
    row = pd.Series(matched_row("adult", "ht", 0.05, 0.8, rule="none", drop_group=True))
    assert headline.named(row, ["rule", "decay", "drop_group", "order"]) == "HT, without the group, order: file"


def test_a_point_is_the_mean_of_the_last_records_over_seeds(text):
    plot = section(text, "trade-off")
    told = re.findall(r'aria-label="([^"]*: accuracy \d[^"]*)"', plot)
    assert "Aranyani, λ = 0.1: accuracy 82.10 ± 0.14 %, gap 0.150 ± 0.000, 2 seeds" in told
    assert "Majority, p = 0.5: accuracy 80.00 ± 0.00 %, gap 0.100 ± 0.000, 2 seeds" in told
    assert len(told) == 3 + 3 + 2 + 1 and not any("11.00" in each for each in told)  # HT in the shuffled order alone
    places = {each: tuple(map(float, re.search(rf'translate\(([\d.]+) ([\d.]+)\)" aria-label="{re.escape(each)}"',
                                               plot).groups())) for each in told if each.startswith("Aranyani")}
    xs, ys = zip(*places.values(), strict=True)  # in the order of λ
    assert list(xs) == sorted(xs) and list(ys) == sorted(ys)  # a larger λ is fairer: right; and less accurate: down


def test_the_field_s_rows_are_in_the_page_and_its_cases_are_counted(text):
    field = section(text, "field")
    data = json.loads(re.search(r'id="field-data">(.*?)</script>', field)[1])
    assert data["methods"] == [["HT", 0], ["GroupThresholds", 1], ["Aranyani", 0]]
    assert data["rows"][0] == ["Adult, one-hot|demographic parity|0.1", 0, 84.0, 83.0, 85.0, 0.1, 0.1, 0.1, None, 1234,
                               None, 1, 1]
    assert '<option selected>0.05</option>' in field and field.count("<option") == 1 + 2 + 2
    shown = elements.plain(elements.Html(field.split("Cases won")[1]))
    assert "HTnever2111" in re.sub(r"\s", "", shown) and "Aranyanitolearn2211" in re.sub(r"\s", "", shown)


def test_points_far_below_are_counted_and_not_drawn():
    frame = pd.DataFrame(records())
    low = frame.assign(accuracy=frame["accuracy"].where(frame["fairness_weight"] < 1, 0.1))
    assert "2 more below, down to 10 %." in scatter.panel("Adult", scatter.series(low[low["step"] == 200]))


def test_every_marker_of_the_methods_has_an_outline():
    for marker in "vo<^>sphDXPd":
        assert re.fullmatch(r"(M[-\d. L]+Z)+", scatter.outline(marker)), marker


def test_figures_have_picture_reading_and_command(results, text):
    figures = section(text, "figures")
    assert figures.count("<img ") == 2 and 'alt="Drift &quot;twice&quot;."' in figures
    assert "Accuracy is 1 &lt; 2." in figures and "<li>one</li><li>two</li>" in figures
    assert "<code>make figure2</code>" in figures and 'href="figure2.csv"' in figures
    assert "<code>results/rules.png</code> is not here yet: <code>make rules</code> makes it." in figures
    assert "Not made yet: <code>make figure1</code>" in figures
    address, width, height = pictures.data_uri(results / "figure2.png")
    assert (width, height) == (1600, 400) and len(address) < 5000


def test_tables_bounds_and_runs_are_there(text):
    tables = section(text, "tables")
    assert "32,561" in tables and "Memory:" in tables and "700.5" in tables and "river HoeffdingTree" in tables
    assert '<a href="../docs/theory.md#one">1</a>' in section(text, "bounds")
    runs = section(text, "environment")
    assert "0123456789<" in runs and "23 min" in runs and "0 to 2" in runs and "forgotten" not in runs


@pytest.mark.parametrize(("name", "command"), [
    ("claims.csv", "make claims"), ("matched.csv", "make matched"), ("figure2.csv", "make figure2"),
    ("field.csv", "make field"),
    ("table1.csv", "make table1"), ("table2.csv", "make table2"), ("benchmark.csv", "make benchmark"),
    ("memory.csv", "memory"), ("README.md", "make figures"), ("environment.json", "make figures")])
def test_a_missing_file_is_named_with_what_makes_it(results, tmp_path, monkeypatch, name, command):
    monkeypatch.setattr(pictures, "data_uri", lambda path: ("data:image/png;base64,", 1, 1))
    folder = shutil.copytree(results, tmp_path / "results", ignore=shutil.ignore_patterns(name))
    changed = report.page(folder)
    read(changed)
    hint = re.search(rf"<code>results/{re.escape(name)}</code> is not here yet: <code>([^<]*)</code> makes it", changed)
    assert command in hint[1]


def test_an_empty_folder_gives_a_page_too(tmp_path):
    text = report.page(tmp_path)
    read(text)
    assert text.count("is not here yet") == 11 + 1  # claims twice


def test_text_of_results_cannot_become_markup():
    assert markdown.inline("<b>*a*") == "&lt;b&gt;<em>a</em>"
    assert elements.tag("p", "<script>", title='"') == '<p title="&quot;">&lt;script&gt;</p>'


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_in_a_browser_nothing_overflows_or_fails_and_the_page_can_be_used(text, tmp_path):
    """The page in frames of both widths, since a window cannot be as narrow as a phone."""
    check = f"<script>{CHECK.read_text(encoding='utf-8')}</script></body>"
    # The page's own policy stays: it forbids requests, not what the test adds.
    (tmp_path / "page.html").write_text(text.replace("</body>", check), encoding="utf-8")
    frames = "".join(f'<iframe src="page.html" style="width:{width}px;height:844px;border:0"></iframe>'
                     for width in (390, 1280))
    (tmp_path / "frames.html").write_text(f"<!DOCTYPE html><body>{frames}", encoding="utf-8")
    said = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
         "--window-size=1400,900", f"--user-data-dir={tmp_path / 'profile'}", "--allow-file-access-from-files",
         "--dump-dom", (tmp_path / "frames.html").as_uri()], capture_output=True, text=True, timeout=200)
    assert ":CONSOLE" not in said.stderr, said.stderr
    found = [json.loads(html.unescape(each)) for each in re.findall(r"<pre>(.*?)</pre>", said.stdout, re.DOTALL)]
    assert sorted(each.get("innerWidth", 0) for each in found) == [390, 1280], found
    for each in found:
        assert "error" not in each, each["error"]
        assert each["scrollWidth"] <= each["innerWidth"] and each["scrollWidthOpened"] <= each["innerWidth"]
        assert each["images"] == 2 and each["brokenImages"] == 0
        assert each["sorted"]["ascending"] == each["sorted"]["descending"][::-1] == [77.77, 79, 80, 81]
        assert each["touched"] == each["focused"] == \
            "Aranyani, λ = 0accuracy 84.10 ± 0.14 %, gap 0.200 ± 0.000, 2 seeds"
        assert each["next"].startswith("Aranyani, λ = 0.1accuracy") and each["hushed"]
        assert each["hiddenSeries"] == 1 and each["hiddenSeriesAfter"] == 0
        assert each["held"] == ["holds"] * 3 and each["claims"] == 8
        first, second = each["field"]
        assert first[0] == "Adult, one-hot, demographic parity at most 0.05: 2 of 3 methods keep it."
        assert first[1:] == ["group not needed to predict", "1 Aranyani", "– HT", "group needed to predict",
                             "1 GroupThresholds"]
        assert second[0].endswith("at most 0.1: 3 of 3 methods keep it.") and second[2:4] == ["1 HT", "2 Aranyani"]


def test_the_script_writes_the_page(results, text, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["report.py", "--results", str(results)])
    report.main()
    assert (results / "index.html").read_text(encoding="utf-8") == text and "MB" in capsys.readouterr().out
