"""A network of PyTorch with a pairwise goal."""

import copy

import torch

import pairity

torch.manual_seed(0)
train, test = pairity.datasets.simulated(1000, seed=0).split(0.5)
x, x_test = torch.from_numpy(train.X).float(), torch.from_numpy(test.X).float()
model = torch.nn.Sequential(torch.nn.Linear(2, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
loss = pairity.torch.PairwiseLoss(
    train.y, groups=train.groups, queries=train.queries, subject_to=["cross_group <= 0.01"], step_size=0.05
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(400):
    optimizer.zero_grad()
    loss(model(x)).backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            loss.snapshot(copy.deepcopy(model), model(x).flatten().numpy())
print(loss.status())
mixture = loss.shrink()
with torch.no_grad():
    scores = mixture.scores(lambda model: model(x_test).flatten().numpy(), test.queries)
audit = pairity.audit(scores, test.y, test.groups, queries=test.queries)
print(f"mixture of {len(mixture.components)}: auc {audit.auc}   gap {audit.gaps['cross_group']}")
