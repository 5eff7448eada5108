"""Numbers on the pages are those of the committed results."""

from pathlib import Path

import pytest

from prepare import numbers

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", numbers.BLOCKS)
def test_the_speeds_on_a_page_are_those_of_the_committed_csv(page):
    opening, write = numbers.BLOCKS[page]
    text = (ROOT / page).read_text(encoding="utf-8")
    content = write(ROOT / "results")
    assert "nan" not in content and len(content) > 100
    assert text == numbers.with_block(text, opening, content), "run `make numbers`"


def test_a_page_without_its_place_is_refused():
    with pytest.raises(ValueError, match="has no place"):
        numbers.with_block("no comments here", "written", "1")
