"""Audit the scores of a model that sorts applications: is it equally right about women and men?"""

import csv
from pathlib import Path

import pairity

with open(Path(__file__).parents[1] / "hiring.csv", newline="") as file:
    rows = list(csv.DictReader(file))

audit = pairity.audit(
    scores=[float(row["score"]) for row in rows],
    labels=[float(row["label"]) for row in rows],
    groups=[row["gender"] for row in rows],
    queries=[row["query"] for row in rows],
    checks=["cross_group <= 0.1", "auc >= 0.7"],
)
print(audit)
for check in audit.checks:
    print(f"{check.expression}: {check.metric} {check.verdict}")
