"""A progress bar, if tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, float, float], None]


@contextmanager
def bar(wanted: bool) -> Iterator[Progress | None]:
    """Something that hears of the progress of a training run."""
    if not wanted:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit="it", leave=True) as shown:

        def tell(done: int, iterations: int, objective: float, violation: float) -> None:
            shown.total = iterations
            shown.set_postfix_str(f"objective {objective:.4f}, violation {violation:.4f}", refresh=False)
            shown.update(done - shown.n)

        yield tell
