"""What the estimators take from scikit-learn where it is installed, and small stand-ins where it is not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import (
        assert_all_finite,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name, as scikit-learn has them."""

        @classmethod
        def _names(cls) -> list[str]:
            return [name for name in inspect.signature(cls).parameters if name != "self"]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters of the constructor."""
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params: Any) -> BaseEstimator:
            """Sets parameters of the constructor."""
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"invalid parameter {name!r}; there are {', '.join(self._names())}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self)).parameters
            changed = [
                f"{name}={value!r}"
                for name, value in self.get_params().items()
                if value is not defaults[name].default and value != defaults[name].default
            ]
            return f"{type(self).__name__}({', '.join(changed)})"

    class RegressorMixin:  # type: ignore[no-redef]
        """Nothing that is needed without scikit-learn."""

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before it is fitted."""


__all__ = ["BaseEstimator", "NotFittedError", "RegressorMixin", "check_fitted", "labels", "matrix", "table"]


def check_fitted(estimator: Any) -> None:
    """Raises `NotFittedError` unless `fit` was called."""
    if HAS_SKLEARN:
        check_is_fitted(estimator, "model_")
    elif not hasattr(estimator, "model_"):
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")


def matrix(estimator: Any, X: Any, reset: bool) -> NDArray[Any]:
    """A matrix of features, whose width is remembered (``reset``) or compared. Those of single precision stay so."""
    if HAS_SKLEARN:
        checked: NDArray[Any] = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        return checked
    found = np.asarray(X)
    if found.dtype != np.float32:
        found = found.astype(np.float64, copy=False)
    if found.ndim != 2:
        raise ValueError(f"the features have the shape {found.shape}; a matrix is needed, one row an example")
    width(estimator, found.shape[1], reset)
    return found


def table(estimator: Any, X: Any, names: list[str], reset: bool) -> None:
    """Remembers the columns of a table, or compares them."""
    if HAS_SKLEARN and hasattr(X, "shape"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    width(estimator, len(names), reset)
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif list(getattr(estimator, "feature_names_in_", names)) != names:
        raise ValueError("the features have other names, or another order, than those in fit")


def width(estimator: Any, found: int, reset: bool) -> None:
    """Remembers the number of features, or compares it."""
    if reset:
        estimator.n_features_in_ = found
    elif found != estimator.n_features_in_:
        raise ValueError(
            f"X has {found} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def labels(estimator: Any, y: Any, rows: int) -> NDArray[np.float64]:
    """One number a row."""
    from . import _columns

    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if HAS_SKLEARN:
        found = column_or_1d(_columns.array(y), warn=True)
        if found.dtype.kind in "iufb":
            assert_all_finite(found, input_name="y")
        y = found
    found = _columns.numbers(y, "labels")
    if len(found) != rows:
        raise ValueError(
            f"labels has {len(found)} rows, but {rows} were expected: all columns need the same length "
            f"(inconsistent numbers of samples: [{rows}, {len(found)}])"
        )
    return found
