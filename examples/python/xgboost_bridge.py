"""XGBoost with a pairwise goal, on features that do not tell the group."""

import xgboost

import pairity

train, test = pairity.datasets.simulated(2000, seed=0).split(0.5)
settings = {"max_depth": 4, "eta": 0.1, "base_score": 0.0, "seed": 0}
data, test_data = xgboost.DMatrix(train.X, train.y), xgboost.DMatrix(test.X, test.y)


def show(name, scores):
    audit = pairity.audit(scores, test.y, test.groups, queries=test.queries)
    print(f"{name:20} auc {audit.auc}   gap {audit.gaps['cross_group']}")


booster = xgboost.train(settings | {"objective": "reg:squarederror"}, data, num_boost_round=100)
show("squared error", booster.predict(test_data))

fair = pairity.xgboost.objective(
    train.y, groups=train.groups, queries=train.queries, subject_to=["cross_group <= 0.01"]
)
booster = xgboost.train(
    settings,
    data,
    num_boost_round=100,
    obj=fair,
    custom_metric=pairity.xgboost.metrics(["auc", "cross_group"], test.groups, queries=test.queries),
    evals=[(test_data, "test")],
    verbose_eval=50,
)
mixture = fair.shrink()
scores = mixture.scores(lambda trees: booster.predict(test_data, iteration_range=(0, trees)), test.queries)
show("pairity, mixture", scores)
