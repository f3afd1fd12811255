"""Values of a model while it is recorded: arrays without numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from lehr import _lehr
from lehr._lehr import LehrError, Recorder

HERE = str(Path(__file__).parent)

T = TypeVar("T")

# The whole numbers that stand for an axis of unknown length: that of the rows.
ROWS = -1


class ModelError(LehrError):
    """A mistake in a model function, with the line that makes it."""


def where_called() -> str:
    """Return the line outside this package that is being run, as `file.py:12`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def refusal(message: str) -> ModelError:
    """Return the mistake with its line."""
    return ModelError(f"{where_called()}: {message}")


def asked(call: Callable[..., T], *arguments: Any) -> T:
    """Ask the recorder; a mistake is told with the line that makes it."""
    try:
        return call(*arguments)
    except ModelError:
        raise
    except LehrError as error:
        raise refusal(str(error)) from None


def operand(x: Any) -> Any:
    """Return a value, a number or an array as the recorder takes it."""
    if isinstance(x, Value):
        return x.handle
    if isinstance(x, bool | int | float):
        return float(x)
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal(
            f"expected numbers or values of the model, found {type(x).__name__}"
        ) from None
    return np.ascontiguousarray(array).reshape(array.shape)


def _unary(name: str, words: str) -> Any:
    def method(self: Value) -> Value:
        return self._apply(name)

    method.__doc__ = words
    method.__name__ = name
    return method


class Value:
    """An array of the model. Operators and NumPy functions make new ones."""

    def __init__(self, recorder: Recorder, handle: _lehr.Value | None) -> None:
        self._recorder = recorder
        self._handle = handle

    @property
    def handle(self) -> _lehr.Value:
        """The recorder's name of it."""
        assert self._handle is not None
        return self._handle

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The lengths of its axes; that of the rows is None."""
        return tuple(self.handle.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def T(self) -> Value:  # noqa: N802 (as NumPy calls it)
        """The matrix with rows and columns exchanged."""
        return self._apply("transpose")

    def _apply(self, operation: str, *others: Any, numbers: Sequence[int] = ()) -> Value:
        return apply(operation, self, *others, numbers=numbers)

    def __add__(self, other: Any) -> Value:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> Value:
        return apply("add", other, self)

    def __sub__(self, other: Any) -> Value:
        return apply("sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return apply("sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return apply("div", other, self)

    def __pow__(self, other: Any) -> Value:
        return power(self, other)

    def __rpow__(self, other: Any) -> Value:
        return apply("pow", other, self)

    def __matmul__(self, other: Any) -> Value:
        return apply("dot", self, other)

    def __rmatmul__(self, other: Any) -> Value:
        return apply("dot", other, self)

    def __neg__(self) -> Value:
        return self._apply("neg")

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return self._apply("abs")

    def __lt__(self, other: Any) -> Value:
        return apply("less", self, other)

    def __le__(self, other: Any) -> Value:
        return apply("less_equal", self, other)

    def __gt__(self, other: Any) -> Value:
        return apply("less", other, self)

    def __ge__(self, other: Any) -> Value:
        return apply("less_equal", other, self)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return apply("equal", self, other)

    __hash__ = object.__hash__

    exp = _unary("exp", "Return eˣ.")
    log = _unary("ln", "Return the natural logarithm.")
    log1p = _unary("log1p", "Return ln(1 + x) without cancellation.")
    expm1 = _unary("expm1", "Return eˣ − 1 without cancellation.")
    sqrt = _unary("sqrt", "Return the square root.")
    square = _unary("square", "Return x².")
    sigmoid = _unary("sigmoid", "Return 1/(1 + e⁻ˣ).")
    softplus = _unary("softplus", "Return ln(1 + eˣ).")
    tanh = _unary("tanh", "Return the hyperbolic tangent.")
    sin = _unary("sin", "Return the sine.")
    cos = _unary("cos", "Return the cosine.")
    arctan = _unary("atan", "Return the angle whose tangent it is.")
    lgamma = _unary("lgamma", "Return ln |Γ(x)|.")
    erf = _unary("erf", "Return the error function.")
    normal_log_cdf = _unary("normal_log_cdf", "Return ln Φ(x).")
    cholesky = _unary("cholesky", "Return the lower Cholesky factor.")
    cumsum = _unary("cumulative_sum", "Return the sums of all entries up to each.")

    def sum(self, axis: int | None = None) -> Value:
        """Return the sum of all entries, or along an axis."""
        return self._reduced("sum", "sum_axis", axis)

    def max(self, axis: int | None = None) -> Value:
        """Return the largest entry, or the largest along an axis."""
        return self._reduced("maximum", "max_axis", axis)

    def mean(self) -> Value:
        """Return the mean of all entries."""
        return self._apply("mean")

    def log_sum_exp(self, axis: int = -1) -> Value:
        """Return ln Σ eˣ along an axis."""
        return self._apply("log_sum_exp", numbers=[self._axis(axis)])

    def dot(self, other: Any) -> Value:
        """Return the product of matrices and vectors."""
        return apply("dot", self, other)

    def solve_lower(self, other: Any) -> Value:
        """Return L⁻¹ b of this lower triangular L."""
        return apply("solve_lower", self, other)

    def solve_lower_transposed(self, other: Any) -> Value:
        """Return L⁻ᵀ b of this lower triangular L."""
        return apply("solve_lower_transposed", self, other)

    def reshape(self, *shape: Any) -> Value:
        """Return the same entries in another shape, in which None is the axis of rows."""
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._apply("reshape", numbers=_lengths(lengths))

    def _reduced(self, whole: str, along: str, axis: int | None) -> Value:
        if axis is None:
            return self._apply(whole)
        return self._apply(along, numbers=[self._axis(axis)])

    def _axis(self, axis: int) -> int:
        if -self.ndim <= axis < self.ndim:
            return axis % self.ndim
        raise refusal(f"axis {axis}: expected one of {self.ndim} axes, found shape {self.shape}")

    def __len__(self) -> int:
        if self.shape and self.shape[0] is not None:
            return self.shape[0]
        raise refusal("len: expected an axis of known length, found a number or all rows")

    def __iter__(self) -> Iterator[Value]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key: Any) -> Value:
        if isinstance(key, Column):
            handle = asked(self._recorder.at, self.handle, key.name)
            return Value(self._recorder, handle)
        if isinstance(key, Value):
            raise refusal(
                "index: expected a column of the table or a number, found a value of the model\n"
                "  hint: write array[row['column']]"
            )
        keys = key if isinstance(key, tuple) else (key,)
        return _sliced(self, keys)

    def __bool__(self) -> bool:
        raise refusal(
            "expected a decision that is known while the model is written, found one that depends "
            "on a random value or a column\n"
            "  hint: write lehr.where(condition, a, b) instead of if, and, or, not"
        )

    def __float__(self) -> float:
        raise refusal(
            "expected a number, found a value of the model, which has none while it is written\n"
            "  hint: use NumPy functions or methods of the value instead of float, int and math"
        )

    __int__ = __float__
    __index__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a NumPy or SciPy function where it means the same."""
        from lehr import _numpy

        return _numpy.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a NumPy function of whole arrays where it means the same."""
        from lehr import _numpy

        return _numpy.function(function, args, kwargs)

    def __repr__(self) -> str:
        return f"Value(shape={self.shape})"


class Column(Value):
    """A column of the rows: an index where it indexes, numbers everywhere else."""

    def __init__(self, recorder: Recorder, name: str, role: str = "auto") -> None:
        super().__init__(recorder, None)
        self.name = name
        self.role = role

    @property
    def handle(self) -> _lehr.Value:
        """The recorder's name of the column's numbers, which are read now."""
        if self._handle is None:
            self._handle = asked(self._recorder.column, self.name, self.role)
        return self._handle


Anything: TypeAlias = Any


def apply(operation: str, *operands: Anything, numbers: Sequence[int] = ()) -> Value:
    """Return the result of an operation, of which one operand at least is a value."""
    recorder = next((one._recorder for one in operands if isinstance(one, Value)), None)
    if recorder is None:
        raise refusal(f"{operation}: expected a value of the model, found numbers only")
    given = [operand(one) for one in operands]
    return Value(recorder, asked(recorder.apply, operation, given, list(numbers)))


def power(x: Any, exponent: Any) -> Value:
    """Return x to a power; squares and roots by themselves."""
    if isinstance(x, Value) and isinstance(exponent, int | float):
        by_itself = {2.0: "square", 0.5: "sqrt", -1.0: "recip"}.get(float(exponent))
        if by_itself is not None:
            return apply(by_itself, x)
        if exponent == 1:
            return x
    return apply("pow", x, exponent)


def where(condition: Any, a: Any, b: Any) -> Value:
    """Return `a` where the condition holds and `b` elsewhere."""
    return apply("select", condition, a, b)


def _lengths(shape: Sequence[int | None]) -> list[int]:
    return [ROWS if length is None else int(length) for length in shape]


def _sliced(x: Value, keys: tuple[Any, ...]) -> Value:
    if len(keys) > x.ndim:
        raise refusal(f"index: expected at most {x.ndim} places, found {len(keys)}")
    kept: list[int | None] = []
    for axis, key in enumerate(keys):
        length = x.shape[axis]
        if isinstance(key, slice) and key == slice(None):
            kept.append(length)
            continue
        if length is None:
            raise refusal("index: expected all rows, found some of them\n  hint: write x[:, 0]")
        if isinstance(key, slice):
            start, end, step = key.indices(length)
            if step != 1:
                raise refusal(f"index: expected steps of 1, found {step}")
            kept.append(max(end - start, 0))
        else:
            place = _place(key, length)
            start, end = place, place + 1
        x = x._apply("slice", numbers=[axis, start, end])
    shape = kept + list(x.shape[len(keys) :])
    return x if tuple(shape) == x.shape else x._apply("reshape", numbers=_lengths(shape))


def _place(key: Any, length: int) -> int:
    if not isinstance(key, int | np.integer) or isinstance(key, bool):
        raise refusal(f"index: expected a number or a slice, found {type(key).__name__}")
    if -length <= key < length:
        return int(key) % length
    raise refusal(f"index: expected a place below {length}, found {key}")
