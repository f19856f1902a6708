"""Pictures, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._audit import Audit


def audit(own: Audit, axes: Any = None) -> Any:
    """The matrix of accuracies and the gaps of an audit. Returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Audit.plot needs matplotlib: pip install matplotlib") from error
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    matrix, gaps = axes
    if own.groups:
        values = [[float(cell) for cell in row] for row in own.accuracy]
        matrix.imshow(values, vmin=0.5, vmax=1.0, cmap="RdBu", aspect="auto")
        for row, cells in enumerate(own.accuracy):
            for column, cell in enumerate(cells):
                text = "–" if cell.value is None else f"{cell.value:.3f}"
                matrix.text(column, row, text, ha="center", va="center")
        places = range(len(own.groups))
        matrix.set_xticks(places, own.groups)
        matrix.set_yticks(places, own.groups)
        matrix.set_xlabel("group of the worse one")
        matrix.set_ylabel("group of the better one")
        matrix.set_title("pairwise accuracy")
    else:
        matrix.set_axis_off()
    found = [(name, gap) for name, gap in own.gaps.items() if gap.value is not None]
    for place, (_, gap) in enumerate(found):
        value = float(gap)
        low = value if gap.low is None else gap.low
        high = value if gap.high is None else gap.high
        gaps.plot([low, high], [place, place], color="tab:blue")
        gaps.plot([value], [place], "o", color="tab:blue")
    gaps.set_yticks(range(len(found)), [name for name, _ in found])
    gaps.axvline(0.0, color="gray", linewidth=1)
    gaps.invert_yaxis()
    gaps.set_title(f"gaps with {own.confidence:.0%} intervals")
    return axes
