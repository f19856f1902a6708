"""Scores that can't be trained anew: add a constant to the scores of each group."""

import pairity

rows = pairity.datasets.simulated(4000, seed=0)
scores = rows.features.sum(axis=1)
adjusted = pairity.adjust(scores, rows.labels, rows.groups, rows.queries, subject_to="cross_group <= 0.01")
print(adjusted.status, adjusted.document["adjustment"]["groups"])
test = adjusted.document["parts"]["test"]
for when in ("before", "after"):
    auc, gap = test[when]["objective"], test[when]["constraints"][0]["metric"]
    print(f"{when:7} auc {auc['value']:.4f}   gap {gap['value']:.4f} [{gap['low']:.4f}, {gap['high']:.4f}]")
