#!/usr/bin/env python3
"""Writes the tables of docs/reproduction.md: reads the JSON of `pairity reproduce --format json` from standard input."""

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reproduction.md"
TITLES = {
    "simulated": "Simulated, two groups",
    "simulated-all": "Simulated, all entries",
    "simulated-marginal": "Simulated, three groups",
    "business": "Business matching (synthetic stand-in)",
    "wiki": "Wikipedia comments, term “gay”",
    "w3c": "W3C experts, gender",
    "crime-ranking": "Communities and Crime, ranking",
    "law": "Law school, regression",
    "crime-regression": "Communities and Crime, regression",
}
REGRESSION = {"law", "crime-regression"}


def number(value, digits):
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def verdict(line):
    agreement = line["agreement"]
    if agreement is None:
        return ""
    objective, violation = agreement["objective"], agreement["violation"]
    return objective if objective == violation else f"{objective} ({violation})"


def row(line):
    digits = 4 if line["experiment"] in REGRESSION else 3
    spread = lambda value: f"{number(value['mean'], digits)} ± {number(value['std'], digits)}"
    violation = spread(line["violation"])
    if population := line["population"]:
        violation += f"; population {number(population['objective'], 4)} ({number(population['violation'], 4)})"
    paper = line["paper"]
    paper_digits = 3 if line["experiment"] in REGRESSION else 2
    paper = f"{number(paper['objective'], paper_digits)} ({number(paper['violation'], 2)})" if paper else "–"
    rows = line["matrix"] if isinstance(line["matrix"][0], list) else [line["matrix"]]
    matrix = " / ".join(" ".join(number(cell, 3) if cell is not None else "–" for cell in cells) for cells in rows)
    cells = [line["method"], spread(line["objective"]), violation, paper, verdict(line), matrix, f"{line['seconds']:.0f}"]
    return "| " + " | ".join(cells) + " |"


def tables(lines):
    for name, title in TITLES.items():
        own = [line for line in lines if line["experiment"] == name]
        if not own:
            continue
        yield f"### {title}{', the published sample' if own[0]['sample'] else ''} (`{name}`)\n"
        paper = "paper, on its own data" if own[0]["stand_in"] else "paper"
        objective = "MSE" if name in REGRESSION else "AUC"
        yield f"| method | {objective} | violation | {paper} | verdict | matrix | seconds |"
        yield "|---|---|---|---|---|---|---|"
        yield from map(row, own)
        yield ""


made = "\n".join(tables(json.load(sys.stdin)))
pattern = re.compile(r"(<!-- tables -->\n).*?(<!-- end of tables -->)", re.DOTALL)
text, count = pattern.subn(lambda found: f"{found[1]}{made}\n{found[2]}", PAGE.read_text(encoding="utf-8"))
if count != 1:
    sys.exit(f"{PAGE} has no place for the tables")
PAGE.write_text(text, encoding="utf-8")
