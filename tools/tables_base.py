"""What the files of tools/tables share: where records lie, and how numbers are written."""
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = "docs/results"


def number(value):
    """Four significant digits; a record's null is no number."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def times(value):
    return f"{value:.2f}×" if value < 10 else f"{value:.1f}×" if value < 100 else f"{value:.0f}×"


def missing(name):
    return f"Not measured yet: `{name}` is not there.\n"
