"""Tables that many machines hold: what a task does with its rows, and how what tasks return becomes one audit.

Rows come as Arrow batches. They are handed to the engine as the bytes of a Parquet file, so that every cell means what it
means on the command line: which cells are missing, and what the numbers, dates and texts of queries and groups are
called. A task returns the sums over its queries (a partial audit) and what it left out, whatever its number of rows.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypedDict

import numpy as np

from . import _columns, _engine
from ._audit import Audit

#: Rows that a task hands to the engine at once, about: it goes on to the end of a query. Fewer only cost time.
ROWS = 1 << 17

#: What holds categories; all others are numbers.
CATEGORIES = ("query", "within", "group")

Names = str | Sequence[str] | None


class Asked(TypedDict, total=False):
    """What an audit may be asked for beside scores."""

    label: str | None
    query: Names
    groups: Names
    protected: str | None
    weights: str | None
    average: str
    checks: str | Iterable[str]
    pair_weight: str | None
    within: Names
    pairs_where: tuple[str, str] | None
    ties: str
    confidence: float
    min_pairs: int
    seed: int
    order: Names
    rows: int
    where: str | None
    only_groups: Names
    min_rows: int


def names(columns: Names) -> list[str]:
    """One name, several, or none."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


@dataclass(frozen=True)
class Plan:
    """Which columns an audit reads, and how rates are measured."""

    roles: list[tuple[str, str]]
    """Roles of columns in the order of the command line's notes, and their names."""
    measuring: _engine.Measuring
    checks: list[str]
    label_gap: bool
    order: list[str]
    """What the rows of a query are sorted by: sums of weights that are rounded depend on it."""
    rows: int
    where: str | None
    """Which rows are looked at, as the command line's ``--where``."""
    only_groups: list[str]
    """The groups that are compared, all if none are named; rows of others belong to no group."""
    min_rows: int
    """Queries that a group is in, if it is to be compared."""

    @classmethod
    def of(
        cls,
        score: str,
        *,
        label: str | None = None,
        query: Names = None,
        groups: Names = None,
        protected: str | None = None,
        weights: str | None = None,
        average: str = "pairs",
        checks: str | Iterable[str] = (),
        pair_weight: str | None = None,
        within: Names = None,
        pairs_where: tuple[str, str] | None = None,
        ties: str = "half",
        confidence: float = 0.95,
        min_pairs: int = 1,
        seed: int = 0,
        order: Names = None,
        rows: int = ROWS,
        where: str | None = None,
        only_groups: Names = None,
        min_rows: int = 0,
    ) -> Plan:
        """As the front ends take it: every column by its name."""
        if not names(query):
            raise ValueError(
                "query is missing: rows are shared out by their queries, and without queries every row is compared "
                "with every other one. Name the columns that tell queries apart, or audit one table with "
                "pairity.audit or the command line"
            )
        if label is None and not names(groups) and protected is None:
            raise ValueError("there is nothing to compare the scores with: name the label, groups or protected")
        if rows < 1:
            raise ValueError(f"rows is {rows}; a task takes at least 1 at once")
        if (names(only_groups) or min_rows > 0) and not names(groups):
            raise ValueError("only_groups and min_rows choose among groups: name the column of the groups with groups")
        if where is not None:
            _engine.filter_columns(where)  # What can't be read is told now.
        sign, side = (">", None) if pairs_where is None else pairs_where
        if sign not in (">", "<"):
            raise ValueError(f"pairs_where is {pairs_where!r}; give '>' or '<' and a column, such as ('>', 'shown')")
        roles = {
            "score": score,
            "label": label,
            "query": query,
            "within": within,
            "group": groups,
            "protected": protected,
            "weight": weights,
            "pair_weight": pair_weight,
            "higher" if sign == ">" else "lower": side,
        }
        return cls(
            [(role, name) for role, columns in roles.items() for name in names(columns)],
            _columns.measuring(average, ties, confidence, min_pairs, seed),
            _columns.texts(checks),
            pair_weight == "label-gap",
            names(order),
            rows,
            where,
            names(only_groups),
            int(min_rows),
        )

    def of_role(self, role: str) -> list[str]:
        """The columns of a role; a reserved word is none."""
        if role == "pair_weight" and self.label_gap:
            return []
        return [name for own, name in self.roles if own == role]

    @property
    def columns(self) -> list[str]:
        """All columns, each once."""
        found = [name for role in dict(self.roles) for name in self.of_role(role)]
        return list(dict.fromkeys([*found, *self.order, *self._filter_columns]))

    @property
    def _filter_columns(self) -> list[str]:
        return [] if self.where is None else _engine.filter_columns(self.where)

    @property
    def sorted_by(self) -> list[str]:
        """What rows are sorted by: the same rows have the same order, however they come."""
        query = self.of_role("query")
        return [*query, *(self.order or [name for name in self.columns if name not in query])]

    def audited(self, table: Any) -> Part:
        """Some rows with all of their queries, which are a table of Arrow."""
        if self.where is not None:
            passing = _engine.filter_rows(parquet(table.select(list(dict.fromkeys(self._filter_columns)))), self.where)
            table = table.filter(passing)
            if not table.num_rows:
                return Part()
        roles = [role for role in dict(self.roles) if self.of_role(role)]
        numbers = {role: self.of_role(role)[0] for role in roles if role not in CATEGORIES}
        categories = {role: self.of_role(role) for role in roles if role in CATEGORIES}
        found, coded = _engine.read_table(
            parquet(table.select(self.columns)),
            list(numbers.values()),
            [name for columns in categories.values() for name in columns],
            [numbers[role] for role in ("label", "score") if role in numbers],
        )
        values = dict(zip(numbers, found, strict=True))
        rest = iter(coded)
        cells = {role: [next(rest) for _ in columns] for role, columns in categories.items()}
        kept = np.ones(table.num_rows, dtype=bool)
        part = Part(rows_read=table.num_rows)
        for role in _engine.NEEDED:
            if role not in roles:
                continue
            if role in cells:
                lacking = np.any([codes == _columns.MISSING for codes, _ in cells[role]], axis=0)
            else:
                lacking = np.isnan(values[role])
            part.missing[role] = int(lacking.sum())
            kept &= ~lacking
        part.rows_dropped = int((~kept).sum())
        values = {role: column[kept] for role, column in values.items()}
        if not kept.any() or ("weight" in values and not values["weight"].any()):
            return part
        groups, queries, within = (
            [(codes[kept], levels) for codes, levels in cells.get(role, [])] for role in ("group", "query", "within")
        )
        query = _engine.cross(queries)[0]
        if self.only_groups or self.min_rows > 0:
            codes, levels = _engine.cross(groups)
            part.units = _units(codes, levels, query)
            others = np.array([bool(self.only_groups) and name not in self.only_groups for name in levels] + [True])
            codes = np.where(others[np.minimum(codes, len(levels))], _columns.MISSING, codes)
            groups = [(codes, levels)]
        examples = _engine.Examples(
            values.get("label"),
            groups,
            values.get("protected"),
            query,
            _engine.cross(within)[0] if within else None,
            values.get("weight"),
            values.get("pair_weight"),
            self.label_gap,
            values.get("higher", values.get("lower")),
            "higher" in values,
        )
        part.sums = examples.partial(values["score"], self.measuring)
        return part

    def parts(self, batches: Iterable[Any], query: Sequence[str]) -> Iterator[Part]:
        """What a task returns of its rows, in which those that agree on ``query`` stand together: one part, or none."""
        found: list[Part] = []
        for table in whole_queries(batches, query, self.rows):
            found = [Part.merged([*found, self.audited(table)])]
        yield from found

    def audit(self, run: Callable[[Plan], Iterable[str]]) -> Audit:
        """The audit of all parts, which a function finds; a second time where groups turn out to be too small."""
        part = Part.of(run(self))
        if self.where is not None and not part.rows_read:
            raise ValueError(f"no row meets where {json.dumps(self.where, ensure_ascii=False)}")
        if part.rows_read == part.rows_dropped:
            why = [f"{role} is missing in {rows}" for role, rows in part.missing.items() if rows]
            raise ValueError(f"no row is left of the {part.rows_read} that were read: {', '.join(why)}")
        if part.sums is None:
            raise ValueError(f"no row counts: every weight in column {self.of_role('weight')[0]!r} is 0")
        kept, left_out = self._chosen(part.units)
        if any(part.units[name] < self.min_rows for name in self.only_groups or part.units):
            part = Part.of(run(replace(self, only_groups=kept, min_rows=0)))
        notes = {
            "columns": self.roles,
            "rows_read": part.rows_read,
            "rows_dropped": part.rows_dropped,
            "missing": list(part.missing.items()),
            "filter": self.where,
            "groups_left_out": left_out,
        }
        audit = Audit(*_engine.merge([part.sums or ""], self.checks, self.measuring, notes))
        if self.of_role("group") and not audit.groups:
            columns = " and ".join(map(repr, self.of_role("group")))
            raise ValueError(f"no row belongs to a group: {columns} has no value in any row")
        return audit

    def _chosen(self, units: dict[str, int]) -> tuple[list[str], list[str]]:
        """The groups that are compared, and what is told of the others, by the number of queries that hold each."""
        for name in self.only_groups:
            if name not in units:
                raise ValueError(f"only_groups: no row is of the group {name!r}; the groups are {', '.join(map(repr, units))}")

        def told(name: str) -> str:
            return f"{json.dumps(name, ensure_ascii=False)} ({units[name]} {'query' if units[name] == 1 else 'queries'})"

        ordered = sorted(units, key=_by_value)
        kept = [name for name in self.only_groups or ordered if units[name] >= self.min_rows]
        left_out = [told(name) for name in ordered if name not in kept]
        if units and not kept:
            raise ValueError(f"no group has the {self.min_rows} queries that min_rows asks for: {', '.join(left_out)}")
        return kept, left_out


def _units(codes: Any, levels: list[str], query: Any) -> dict[str, int]:
    """How many queries hold rows of each group."""
    known = codes != _columns.MISSING
    pairs = np.unique(codes[known].astype(np.uint64) << np.uint64(32) | query[known])
    counts = np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(levels))
    return {name: int(count) for name, count in zip(levels, counts, strict=True) if count}


def _by_value(name: str) -> tuple[bool, float, str]:
    """Numbers by value and before words, as groups are sorted."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name


@dataclass
class Part:
    """The sums over some queries, and what is told of their rows."""

    sums: str | None = None
    """A partial audit; none where no row counts."""
    rows_read: int = 0
    rows_dropped: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    """How many rows lack what."""
    units: dict[str, int] = field(default_factory=dict)
    """How many queries hold rows of each group, where groups are chosen."""

    @classmethod
    def merged(cls, parts: Sequence[Part]) -> Part:
        """One of many."""
        sums = [part.sums for part in parts if part.sums is not None]
        return cls(
            _engine.merge_partials(sums) if len(sums) > 1 else next(iter(sums), None),
            sum(part.rows_read for part in parts),
            sum(part.rows_dropped for part in parts),
            _summed([part.missing for part in parts]),
            _summed([part.units for part in parts]),
        )

    @classmethod
    def of(cls, texts: Iterable[str]) -> Part:
        """One of the texts of many, of which some are in memory at a time."""
        all, rest = cls(), iter(texts)
        while some := [cls(**json.loads(text)) for text in islice(rest, 64)]:
            all = cls.merged([all, *some])
        return all

    def to_json(self) -> str:
        """As a text."""
        return json.dumps(self.__dict__)


def _summed(counts: list[dict[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for own in counts for name in own)
    return {name: sum(own.get(name, 0) for own in counts) for name in names}


def parquet(table: Any) -> bytes:
    """A table of Arrow as the engine reads it."""
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    return bytes(sink.getvalue())


def whole_queries(batches: Iterable[Any], query: Sequence[str], rows: int) -> Iterator[Any]:
    """Tables of about so many rows, each of whole queries, of batches in which the rows of a query stand together."""
    import pyarrow

    held: list[Any] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        if sum(batch.num_rows for batch in held) < rows:
            continue
        # The last query may go on in the next batch.
        at, start = _last_query(held, query)
        if at or start:
            yield pyarrow.Table.from_batches([*held[:at], held[at].slice(0, start)])
            held = [rest for rest in (held[at].slice(start), *held[at + 1 :]) if rest.num_rows]
    if held:
        yield pyarrow.Table.from_batches(held)


def _last_query(held: list[Any], query: Sequence[str]) -> tuple[int, int]:
    """Where the last query starts: in which batch, and at which of its rows; behind all rows where
    there are no queries, or none in the last row."""

    def cells(batch: Any, row: int) -> list[str | None]:
        found = (batch.column(name)[row].as_py() for name in query)
        return [None if cell is None else repr(cell) for cell in found]

    last = cells(held[-1], held[-1].num_rows - 1)
    if None in last or not query:
        return len(held) - 1, held[-1].num_rows
    if cells(held[0], 0) == last:
        return 0, 0
    for at in reversed(range(len(held))):
        batch = held[at]
        start = bisect_left(range(batch.num_rows), True, key=lambda row: cells(batch, row) == last)
        if start:
            return at, start
    return 0, 0


#: Texts of missing cells.
MISSING = ("", "?", "NA")

#: What is no part of a cell at its ends.
SPACE = " \t\n\f\r"
