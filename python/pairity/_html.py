"""Results as HTML for notebooks: plain tables, no scripts, nothing to load."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._audit import Audit, Metric

_CELL = "padding:2px 10px;text-align:right"
_HEAD = "padding:2px 10px;text-align:left"


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """A table whose cells are HTML already."""
    heading = "".join(f'<th style="{_HEAD}">{cell}</th>' for cell in head)
    body = "".join(
        "<tr>" + f'<th style="{_HEAD}">{row[0]}</th>' + "".join(row[1:]) + "</tr>" for row in rows
    )
    caption = f'<caption style="text-align:left;font-weight:bold;padding:6px 0">{escape(title)}</caption>'
    return f"<table>{caption}<thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"


def number(value: float | None) -> str:
    """A cell with a number."""
    return f'<td style="{_CELL}">{"–" if value is None else f"{value:.4f}"}</td>'


def metric(own: Metric | None, shaded: bool = False) -> str:
    """A cell with a value and its interval."""
    if own is None:
        return f'<td style="{_CELL}"></td>'
    if own.value is None:
        return f'<td style="{_CELL};opacity:.6" title="{escape(own.reason or "")}">not estimable</td>'
    shade = ""
    if shaded:
        # From orange (0.5 and below) over white to blue (1), light enough for dark and light themes.
        strength = max(-1.0, min(1.0, (own.value - 0.75) * 4))
        color = "31,119,180" if strength > 0 else "214,39,40"
        shade = f";background:rgba({color},{abs(strength) * 0.35:.2f})"
    interval = ""
    if own.low is not None and own.high is not None:
        interval = f' <small style="opacity:.7">[{own.low:.3f}, {own.high:.3f}]</small>'
    title = f"{own.pairs} pairs"
    return f'<td style="{_CELL}{shade}" title="{title}">{own.value:.4f}{interval}</td>'


def audit(own: Audit) -> str:
    """An audit."""
    parts = [
        f"<p>{own.rows} rows, {own.queries} quer{'y' if own.queries == 1 else 'ies'}, "
        f"{own.confidence:.0%} intervals, average over {own.average}, ties {own.ties}</p>"
    ]
    heads = [["auc", metric(own.auc)]]
    if own.mse is not None:
        heads.append(["mse", metric(own.mse)])
    parts.append(table("Overall", ["", ""], heads))
    if own.groups:
        names = [escape(name) for name in own.groups]
        rows = [
            [name, *(metric(cell, True) for cell in own.accuracy[place]), metric(own.row_marginals[place], True)]
            for place, name in enumerate(names)
        ]
        rows.append(["any", *(metric(cell, True) for cell in own.column_marginals), metric(own.auc, True)])
        head = ["better \\ worse", *names, "any"]
        parts.append(table("Pairwise accuracy: how often the better one scores higher", head, rows))
    if own.continuous is not None:
        rows = [
            ["better has more (z > z')", metric(own.continuous["greater"], True)],
            ["better has less (z &lt; z')", metric(own.continuous["less"], True)],
        ]
        parts.append(table("Pairwise accuracy by the attribute", ["", ""], rows))
    gaps = [[name, metric(gap)] for name, gap in own.gaps.items() if gap.value is not None]
    if gaps:
        parts.append(table("Gaps: 0 is fair", ["", ""], gaps))
    if own.checks:
        rows = [
            [escape(check.expression), metric(check.metric), f'<td style="{_HEAD}">{check.verdict}</td>']
            for check in own.checks
        ]
        parts.append(table("Checks", ["", "", "verdict"], rows))
    return "<div>" + "".join(parts) + "</div>"


def training(report: dict[str, Any]) -> str:
    """The report of a training run."""
    goal = report["goal"]
    stated = f"maximize {goal['maximize']}" if "maximize" in goal else f"minimize {goal['minimize']}"
    bounds = "".join(f" subject to {text}" for text in goal["subject_to"])
    shares = ", ".join(f"{component['probability']:.3f}" for component in report["components"])
    head = (
        f"<p><b>{escape(stated)}</b>{escape(bounds)}<br>status <b>{report['status']}</b>, "
        f"{report['model']} scorer, probabilities {shares}</p>"
    )
    parts = [name for name in ("train", "validation", "test") if report[name]]
    rows = [["objective", *(number(report[name]["objective"]) for name in parts)]]
    for place, text in enumerate(goal["subject_to"]):
        cells = [number(report[name]["violations"][place]["value"]) for name in parts]
        rows.append([escape(text), *cells])
    return f"<div>{head}{table('Expected of the model', ['', *parts], rows)}</div>"
