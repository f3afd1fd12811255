"""NumPy and SciPy functions that mean the same for values of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lehr._value import Value, apply, power, refusal, where

# Functions of single numbers, by the name of the ufunc.
UNARY = {
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "sign": "sign",
    "exp": "exp",
    "expm1": "expm1",
    "log": "ln",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "square": "square",
    "reciprocal": "recip",
    "tanh": "tanh",
    "sin": "sin",
    "cos": "cos",
    "arctan": "atan",
    # of scipy.special
    "expit": "sigmoid",
    "gammaln": "lgamma",
    "psi": "digamma",
    "erf": "erf",
    "erfc": "erfc",
    "log_ndtr": "normal_log_cdf",
}

BINARY = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "maximum": "max",
    "minimum": "min",
    "less": "less",
    "less_equal": "less_equal",
    "equal": "equal",
    "matmul": "dot",
}


def ufunc(found: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Value:
    """Apply an elementwise function."""
    name = found.__name__
    if method == "__call__" and not options:
        if name in UNARY:
            return apply(UNARY[name], inputs[0])
        if name in BINARY:
            return apply(BINARY[name], *inputs)
        if name == "power":
            return power(*inputs)
        if name in ("greater", "greater_equal"):
            return apply("less" if name == "greater" else "less_equal", inputs[1], inputs[0])
        if name == "logaddexp":
            return apply("add", inputs[0], apply("softplus", inputs[1] - inputs[0]))
    if method == "reduce" and name == "add":
        return _sum(inputs[0], options.get("axis"))
    raise _unknown(f"{name}" if method == "__call__" else f"{name}.{method}")


def function(found: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Apply a function of whole arrays."""
    known = FUNCTIONS.get(found)
    if known is None:
        raise _unknown(found.__name__)
    return known(*args, **kwargs)


def _unknown(name: str) -> Exception:
    return refusal(
        f"np.{name}: expected a function that models know, found another\n"
        "  hint: models know arithmetic, exp, log, sqrt, tanh, sum, mean, dot, where, concatenate, "
        "stack, cumsum, clip, cholesky and their like"
    )


def _sum(x: Value, axis: int | None = None) -> Value:
    return x.sum(axis)


def _clip(x: Value, low: Any, high: Any) -> Value:
    return apply("min", apply("max", x, low), high)


def _joined(operation: str) -> Callable[..., Value]:
    def join(parts: Sequence[Any], axis: int = 0) -> Value:
        if operation == "stack":
            if axis != 0:
                raise refusal(f"np.stack: expected axis 0, found {axis}")
            return apply("stack", *parts)
        return apply("concat", *parts, numbers=[axis])

    return join


def _diag(x: Value) -> Value:
    return apply("diagonal_matrix" if x.ndim == 1 else "diagonal", x)


def _broadcast(x: Value, shape: Sequence[int]) -> Value:
    return apply("broadcast", x, numbers=[int(length) for length in np.atleast_1d(shape)])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: lambda x: x.mean(),
    np.max: lambda x, axis=None: x.max(axis),
    np.dot: lambda a, b: apply("dot", a, b),
    np.outer: lambda a, b: apply("outer", a, b),
    np.where: where,
    np.clip: _clip,
    np.cumsum: lambda x: x.cumsum(),
    np.transpose: lambda x: x.T,
    np.concatenate: _joined("concat"),
    np.stack: _joined("stack"),
    np.diag: _diag,
    np.tril: lambda x, k=0: apply("tril", x, numbers=[k]),
    np.reshape: lambda x, shape: x.reshape(shape),
    np.broadcast_to: _broadcast,
    np.linalg.cholesky: lambda x: x.cholesky(),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
}
