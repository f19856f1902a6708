"""LightGBM with a pairwise goal, beside LightGBM as it is.

If trees may see the group, being fair costs nothing here, and they find that out by themselves. If they may
not, they have to be told.
"""

import lightgbm
import numpy as np

import pairity

train, test = pairity.datasets.simulated(5000, seed=0).split(0.5)
settings = {"num_leaves": 8, "learning_rate": 0.1, "min_data_in_leaf": 200, "verbose": -1, "seed": 0}


def show(name, scores):
    audit = pairity.audit(scores, test.y, test.groups, queries=test.queries)
    print(f"{name:38} auc {audit.auc}   gap {audit.gaps['cross_group']}")


for sees, X, X_test in [
    ("features and group", train.with_group(), test.with_group()),
    ("features alone", train.X, test.X),
]:
    sizes = np.unique(train.queries, return_counts=True)[1]
    data = lightgbm.Dataset(X, (train.y > 0).astype(int), group=sizes)
    booster = lightgbm.train(settings | {"objective": "lambdarank"}, data, num_boost_round=100)
    show(f"{sees}, lambdarank", booster.predict(X_test))

    fair = pairity.lightgbm.objective(
        train.y, groups=train.groups, queries=train.queries, subject_to=["cross_group <= 0.01"]
    )
    data = lightgbm.Dataset(X, train.y)
    booster = lightgbm.train(settings | {"objective": fair}, data, num_boost_round=100)
    show(f"{sees}, pairity, last", booster.predict(X_test))

    mixture = fair.shrink()
    drawn = mixture.scores(lambda trees: booster.predict(X_test, num_iteration=trees), test.queries)
    show(f"{sees}, pairity, mixture", drawn)
