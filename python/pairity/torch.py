"""A bridge to PyTorch: the loss of a pairwise goal, differentiable by the scores.

>>> import torch, pairity
>>> rows = pairity.datasets.simulated(200, seed=1)
>>> loss = pairity.torch.PairwiseLoss(rows.y, groups=rows.groups, queries=rows.queries,
...                                   subject_to=["cross_group <= 0.05"])
>>> x = torch.from_numpy(rows.X)
>>> model = torch.nn.Linear(2, 1, dtype=torch.float64)
>>> optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
>>> for _ in range(20):
...     optimizer.zero_grad()
...     loss(model(x)).backward()
...     _ = optimizer.step()
>>> loss.status().steps
20
"""

from __future__ import annotations

from typing import Any

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("pairity.torch needs PyTorch: pip install torch") from error

from ._loss import PairwiseLoss as _PairwiseLoss

__all__ = ["PairwiseLoss"]


class _Descend(_torch.autograd.Function):
    @staticmethod
    def forward(context: Any, scores: Any, loss: PairwiseLoss, moves: bool) -> Any:
        values = scores.detach().to("cpu", _torch.float64).reshape(-1).contiguous().numpy()
        value, gradient, _ = loss.step(values) if moves else loss.look(values)
        slopes = _torch.from_numpy(gradient).reshape(scores.shape)
        context.save_for_backward(slopes.to(scores.device, scores.dtype))
        return scores.new_tensor(value)

    @staticmethod
    def backward(context: Any, upstream: Any) -> Any:
        (slopes,) = context.saved_tensors
        return upstream * slopes, None, None


class PairwiseLoss(_PairwiseLoss):
    """:class:`pairity.PairwiseLoss` for tensors of PyTorch: call it with the scores of all rows and get a loss
    to call ``backward()`` on. Each call while gradients are on weighs the constraints anew; without gradients
    (``torch.no_grad()``) it only looks."""

    def __call__(self, scores: Any) -> Any:
        """The loss at the scores, of any shape with one number a row."""
        return _Descend.apply(scores, self, _torch.is_grad_enabled())
