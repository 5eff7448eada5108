"""The paper's claims, each a function of the committed results: `make claims` judges them all."""

import importlib

PARTS = ("bounds", "trade_offs", "analysis", "along_streams", "other_settings", "facts")  # the order of the page


def all_claims() -> list:
    """Every claim; the files register theirs when they are imported."""
    from ledger.claim import CLAIMS

    for part in PARTS:
        importlib.import_module(f"ledger.{part}")
    return CLAIMS
