"""The compiled engine; the package stands on it, and nothing else should."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

__all__ = [
    "Adjustment",
    "CRITERIA",
    "Examples",
    "FeaturePart",
    "Model",
    "NEEDED",
    "PartPairs",
    "ScorePlayer",
    "View",
    "__version__",
    "adjust",
    "codes_of_integers",
    "codes_of_texts",
    "compare",
    "cross",
    "filter_columns",
    "filter_rows",
    "merge",
    "merge_partials",
    "read_table",
    "score_table",
    "simulated",
    "train",
    "train_elsewhere",
    "uniform",
]

__version__: str
CRITERIA: list[str]
NEEDED: list[str]

_Numbers = NDArray[np.float64]
_Codes = NDArray[np.uint32]
_Category = tuple[_Codes, Sequence[str]]
_Features = Sequence[tuple[str, _Numbers | NDArray[np.float32] | _Category]]

@type_check_only
class Measuring(TypedDict):
    average: str
    ties: str
    confidence: float
    min_pairs: int
    seed: int

def codes_of_integers(values: NDArray[np.int64]) -> tuple[_Codes, list[int]]: ...
def codes_of_texts(values: Sequence[str | None]) -> tuple[_Codes, list[str]]: ...
def cross(columns: Sequence[_Category]) -> tuple[_Codes, list[str]]: ...
def uniform(seed: int, text: str) -> float: ...
def simulated(
    queries: int, groups: int, seed: int, as_printed: bool
) -> tuple[_Numbers, _Numbers, _Codes, _Codes]: ...

@final
class Examples:
    def __new__(
        cls,
        labels: _Numbers | None,
        groups: Sequence[_Category],
        protected: _Numbers | None,
        queries: _Codes | None,
        within: _Codes | None,
        weights: _Numbers | None,
        pair_weight: _Numbers | None,
        label_gap: bool,
        side: _Numbers | None,
        higher: bool,
    ) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def groups(self) -> list[str]: ...
    def audit(
        self, scores: _Numbers, checks: Sequence[str], settings: Measuring
    ) -> tuple[dict[str, Any], View]: ...
    def partial(self, scores: _Numbers, settings: Measuring) -> str: ...
    def measure(self, scores: _Numbers, expression: str, settings: Measuring) -> dict[str, Any]: ...

def read_table(
    table: bytes, numbers: Sequence[str], categories: Sequence[str], exact: Sequence[str]
) -> tuple[list[_Numbers], list[tuple[_Codes, list[str]]]]: ...
def filter_columns(filter: str) -> list[str]: ...
def filter_rows(table: bytes, filter: str) -> NDArray[np.bool_]: ...
def merge_partials(parts: Sequence[str]) -> str: ...
def merge(
    parts: Sequence[str], checks: Sequence[str], settings: Measuring, notes: dict[str, Any] | None
) -> tuple[dict[str, Any], View]: ...
def score_table(
    model: Model, table: bytes, query: Sequence[str], seed: int | None, expected: bool
) -> tuple[_Numbers, _Numbers | None]: ...

@final
class View:
    def __new__(cls, text: str, html: str) -> Self: ...
    def text(self) -> str: ...
    def html(self) -> str: ...

@final
class Model:
    def __new__(cls, json: str) -> Self: ...
    def to_json(self) -> str: ...
    def components(self) -> list[tuple[float, int, _Numbers]]: ...
    @property
    def needs_groups(self) -> bool: ...
    def columns(self) -> list[str]: ...
    def query_columns(self, named: Sequence[str]) -> list[str]: ...
    @property
    def ranks(self) -> bool: ...
    @property
    def needs_attribute(self) -> bool: ...
    def score(
        self, features: _Features, groups: Sequence[_Category], queries: _Category | None, seed: int
    ) -> tuple[_Numbers, list[str]]: ...
    def expected_scores(self, features: _Features, groups: Sequence[_Category]) -> _Numbers: ...
    def measure(
        self,
        examples: Examples,
        features: _Features,
        groups: Sequence[_Category],
        expression: str,
        settings: Measuring,
    ) -> dict[str, Any]: ...

def train(
    examples: Examples,
    features: _Features,
    settings: dict[str, Any],
    progress: Callable[[int, int, float, float], object] | None,
) -> tuple[Model, tuple[dict[str, Any], View]]: ...

def train_elsewhere(
    examples: Examples,
    driver: Any,
    settings: dict[str, Any],
    progress: Callable[[int, int, float, float], object] | None,
) -> tuple[Model, tuple[dict[str, Any], View]]: ...

@final
class FeaturePart:
    def __new__(
        cls, features: _Features, encoder: str, codes: NDArray[np.uint16] | None = None
    ) -> Self: ...
    def select(self, rows: NDArray[np.uint32]) -> FeaturePart: ...
    def scores(self, scorer: str, parameters: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]: ...
    def gradient(
        self, scorer: str, parameters: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

@final
class PartPairs:
    def __new__(cls, examples: str, features: FeaturePart, task: str) -> Self: ...
    def totals(self) -> NDArray[np.float64]: ...
    def loss(
        self, scorer: str, parameters: NDArray[np.float64], weights: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def compare(
    examples: Examples,
    features: _Features,
    methods: Sequence[str],
    settings: dict[str, Any],
) -> tuple[dict[str, Any], View]: ...

@final
class Adjustment:
    def __new__(cls, json: str) -> Self: ...
    def to_json(self) -> str: ...
    def apply(
        self, scores: _Numbers, groups: Sequence[_Category], protected: _Numbers | None = None
    ) -> tuple[_Numbers, int]: ...

def adjust(
    examples: Examples,
    scores: _Numbers,
    settings: dict[str, Any],
) -> tuple[Adjustment, tuple[dict[str, Any], View]]: ...

@final
class ScorePlayer:
    def __new__(cls, examples: Examples, settings: dict[str, Any]) -> Self: ...
    def step(self, scores: _Numbers, moves: bool) -> tuple[float, _Numbers, _Numbers]: ...
    @property
    def rates(self) -> list[tuple[str, float]]: ...
    def status(self) -> dict[str, Any]: ...
    def snapshot(self, scores: _Numbers | None) -> None: ...
    def shrink(self) -> tuple[list[tuple[int, float]], float, float]: ...
