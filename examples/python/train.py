"""Train a ranker that is equally accurate for both groups, and see what it costs."""

import pairity

train, test = pairity.datasets.simulated(2000, seed=0).split(0.5)
columns = {"groups": train.groups, "queries": train.queries}
for name, settings in {
    "unconstrained": {"method": "unconstrained"},
    "constrained": {"subject_to": ["cross_group <= 0.01"]},
    "constrained, group-aware": {"subject_to": ["cross_group <= 0.01"], "group_aware": "offsets"},
}.items():
    ranker = pairity.FairRanker(step_sizes=[0.1], iterations=1000, **settings)
    ranker.fit(train.X, train.y, **columns)
    scores = ranker.predict(test.X, groups=test.groups, queries=test.queries)
    audit = pairity.audit(scores, test.y, test.groups, queries=test.queries)
    print(f"{name:26} auc {audit.auc}   gap {audit.gaps['cross_group']}   {ranker.status_}")
