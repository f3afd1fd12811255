"""Distributions: priors of latents and laws of observed columns.

>>> from lehr import dist
>>> float(dist.Normal(0.0, 1.0).log_prob(0.0)).__round__(4)
-0.9189
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from lehr import _lehr
from lehr._value import Value, asked, operand, refusal

# A number, an array of numbers, or a value of the model.
Parameter: TypeAlias = Any

D = TypeVar("D", bound="Distribution")


class Distribution:
    """A distribution, whose parameters are numbers, arrays or values of a model."""

    def __init__(self, **parameters: Parameter) -> None:
        self._name = type(self).__name__
        self._parameters = parameters
        self._batch: list[int] | None = None

    def expand(self: D, shape: int | Sequence[int]) -> D:
        """Return independent copies.

        Args:
            shape: How many, along each axis; the axes of the parameters included.
        """
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._batch = [int(length) for length in np.atleast_1d(np.asarray(shape))]
        return copy

    def log_prob(self, x: Any) -> Any:
        """Return the log density at `x`: numbers for numbers, a value for values of a model.

        Args:
            x: Where; its first axes may be further copies.
        """
        values = [x, *self._parameters.values()]
        recorder = next((one._recorder for one in values if isinstance(one, Value)), None)
        if recorder is not None:
            return Value(recorder, asked(recorder.log_density, self._law(), operand(x)))
        at = np.ascontiguousarray(np.asarray(x, dtype=np.float64))
        shape, numbers = _lehr.log_density(self._law(), at.reshape(np.shape(x)))
        return numbers.reshape(shape)

    def _law(self) -> dict[str, Any]:
        parameters = [(name, operand(value)) for name, value in self._parameters.items()]
        return {"name": self._name, "parameters": parameters, "batch": self._batch}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{self._name}({shown})"


def _given(name: str, **ways: Parameter | None) -> dict[str, Parameter]:
    """Return the one parameter that was given of those that exclude each other."""
    found = {key: value for key, value in ways.items() if value is not None}
    if len(found) == 1:
        return found
    raise refusal(f"{name}: expected one of {', '.join(ways)}, found {len(found)}")


class Bernoulli(Distribution):
    """0 or 1, by the logit or the probability of 1."""

    def __init__(self, logits: Parameter | None = None, probs: Parameter | None = None) -> None:
        super().__init__(**_given("Bernoulli", logits=logits, probs=probs))


class Beta(Distribution):
    """Numbers between 0 and 1: by a and b, or by the mean or its logit, and a precision."""

    def __init__(
        self,
        a: Parameter | None = None,
        b: Parameter | None = None,
        *,
        mean: Parameter | None = None,
        logit_mean: Parameter | None = None,
        precision: Parameter | None = None,
    ) -> None:
        first = _given("Beta", a=a, mean=mean, logit_mean=logit_mean)
        super().__init__(**first, **_given("Beta", b=b, precision=precision))


class BetaBinomial(Distribution):
    """How many of `trials` succeed, by the logit of the mean probability and its precision."""

    def __init__(self, trials: Parameter, logit_mean: Parameter, precision: Parameter) -> None:
        super().__init__(trials=trials, logit_mean=logit_mean, precision=precision)


class Binomial(Distribution):
    """How many of `trials` succeed, by the logit of each."""

    def __init__(self, trials: Parameter, logits: Parameter) -> None:
        super().__init__(trials=trials, logits=logits)


class Categorical(Distribution):
    """A class, by the logits of all classes along the last axis."""

    def __init__(self, logits: Parameter) -> None:
        super().__init__(logits=logits)


class Cauchy(Distribution):
    """The Cauchy distribution."""

    def __init__(self, loc: Parameter = 0.0, scale: Parameter = 1.0) -> None:
        super().__init__(loc=loc, scale=scale)


class Censored(Distribution):
    """What is known of draws of another distribution: themselves, or bounds.

    Args:
        base: Normal, LogNormal, Exponential, Weibull or Poisson.
        status: 0 where the draw is x, -1 where it is x or less, 1 where it is more, 2 where it is
            more than x and `upper` or less.
        upper: Where intervals end.
    """

    def __init__(
        self,
        base: Exponential | LogNormal | Normal | Poisson | Weibull,
        status: Parameter,
        upper: Parameter = 0.0,
    ) -> None:
        super().__init__(**base._parameters, status=status, upper=upper)
        self._name = f"Censored{base._name}"
        self._batch = base._batch


class Dirichlet(Distribution):
    """Positive numbers that sum to one."""

    def __init__(self, concentration: Parameter) -> None:
        super().__init__(concentration=concentration)


class Exponential(Distribution):
    """Positive numbers of mean 1/rate."""

    def __init__(self, rate: Parameter = 1.0) -> None:
        super().__init__(rate=rate)


class Flat(Distribution):
    """The same density everywhere: no prior at all, where the rows alone hold the parameter."""

    def __init__(self) -> None:
        super().__init__()


class Gamma(Distribution):
    """Positive numbers by shape and rate, or by the mean or its logarithm, and the shape."""

    def __init__(
        self,
        shape: Parameter,
        rate: Parameter | None = None,
        *,
        mean: Parameter | None = None,
        log_mean: Parameter | None = None,
    ) -> None:
        super().__init__(shape=shape, **_given("Gamma", rate=rate, mean=mean, log_mean=log_mean))


class GeneralizedPoisson(Distribution):
    """Counts of variance mean/(1 - dispersion)^2; the dispersion is between 0 and 1."""

    def __init__(self, log_mean: Parameter, dispersion: Parameter) -> None:
        super().__init__(log_mean=log_mean, dispersion=dispersion)


class HalfCauchy(Distribution):
    """The absolute value of a Cauchy number around 0."""

    def __init__(self, scale: Parameter = 1.0) -> None:
        super().__init__(scale=scale)


class HalfNormal(Distribution):
    """The absolute value of a normal number around 0."""

    def __init__(self, scale: Parameter = 1.0) -> None:
        super().__init__(scale=scale)


class HalfStudentT(Distribution):
    """The absolute value of Student's t around 0."""

    def __init__(self, df: Parameter, scale: Parameter = 1.0) -> None:
        super().__init__(df=df, scale=scale)


class Hurdle(Distribution):
    """0 with the probability of the gate, else a count of another distribution above 0."""

    def __init__(self, base: NegativeBinomial | Poisson, gate_logits: Parameter) -> None:
        super().__init__(**base._parameters, gate_logits=gate_logits)
        self._name = f"Hurdle{base._name}"
        self._batch = base._batch


class InverseGamma(Distribution):
    """The reciprocal of a gamma number."""

    def __init__(self, shape: Parameter, scale: Parameter = 1.0) -> None:
        super().__init__(shape=shape, scale=scale)


class InverseGaussian(Distribution):
    """Positive numbers by the logarithm of their mean; the variance is mean³/shape."""

    def __init__(self, log_mean: Parameter, shape: Parameter = 1.0) -> None:
        super().__init__(log_mean=log_mean, shape=shape)


class Laplace(Distribution):
    """The double exponential distribution."""

    def __init__(self, loc: Parameter = 0.0, scale: Parameter = 1.0) -> None:
        super().__init__(loc=loc, scale=scale)


class LkjCholesky(Distribution):
    """Lower factors of correlation matrices."""

    def __init__(self, dimension: int, concentration: Parameter = 1.0) -> None:
        super().__init__(dimension=dimension, concentration=concentration)


class LogNormal(Distribution):
    """Numbers whose logarithm is normal."""

    def __init__(self, loc: Parameter = 0.0, scale: Parameter = 1.0) -> None:
        super().__init__(loc=loc, scale=scale)


class MultivariateNormal(Distribution):
    """Vectors around `loc` by the lower Cholesky factor of their covariance."""

    def __init__(self, loc: Parameter, factor: Parameter) -> None:
        super().__init__(loc=loc, factor=factor)


class NegativeBinomial(Distribution):
    """Counts by their mean or its logarithm; the variance is mean + mean²/dispersion."""

    def __init__(
        self,
        mean: Parameter | None = None,
        dispersion: Parameter = 1.0,
        *,
        log_mean: Parameter | None = None,
    ) -> None:
        first = _given("NegativeBinomial", mean=mean, log_mean=log_mean)
        super().__init__(**first, dispersion=dispersion)


class NoisyBernoulli(Distribution):
    """Two outcomes whose logit is N(loc, variance), integrated out."""

    def __init__(self, loc: Parameter, variance: Parameter) -> None:
        super().__init__(loc=loc, variance=variance)


class NoisyStudentT(Distribution):
    """Student's t plus N(0, variance), integrated out."""

    def __init__(
        self, df: Parameter, loc: Parameter, scale: Parameter, variance: Parameter
    ) -> None:
        super().__init__(df=df, loc=loc, scale=scale, variance=variance)


class Normal(Distribution):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def __init__(self, loc: Parameter = 0.0, scale: Parameter = 1.0) -> None:
        super().__init__(loc=loc, scale=scale)


class OrderedLogistic(Distribution):
    """A class of several in order, by a predictor and the cutpoints between them."""

    def __init__(self, predictor: Parameter, cutpoints: Parameter) -> None:
        super().__init__(predictor=predictor, cutpoints=cutpoints)


class OrderedProbit(Distribution):
    """Ordered outcomes: the predictor plus standard normal noise, cut at the cutpoints."""

    def __init__(self, predictor: Parameter, cutpoints: Parameter) -> None:
        super().__init__(predictor=predictor, cutpoints=cutpoints)


class Poisson(Distribution):
    """Counts by their rate or its logarithm."""

    def __init__(self, rate: Parameter | None = None, *, log_rate: Parameter | None = None) -> None:
        super().__init__(**_given("Poisson", rate=rate, log_rate=log_rate))


class StudentT(Distribution):
    """Student's t with `df` degrees of freedom."""

    def __init__(self, df: Parameter, loc: Parameter = 0.0, scale: Parameter = 1.0) -> None:
        super().__init__(df=df, loc=loc, scale=scale)


class Truncated(Distribution):
    """Draws of another distribution that are `low` or more and `high` or less.

    Args:
        base: Normal, LogNormal, Exponential, Weibull or Poisson.
        low: The least; minus infinity is no limit.
        high: The largest; infinity is no limit.
    """

    def __init__(
        self,
        base: Exponential | LogNormal | Normal | Poisson | Weibull,
        low: Parameter = -np.inf,
        high: Parameter = np.inf,
    ) -> None:
        super().__init__(**base._parameters, low=low, high=high)
        self._name = f"Truncated{base._name}"
        self._batch = base._batch


class Uniform(Distribution):
    """Equal density between two numbers."""

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low=low, high=high)


class VonMises(Distribution):
    """Angles from −π to π around a direction, the more closely the greater the concentration."""

    def __init__(self, direction: Parameter = 0.0, concentration: Parameter = 1.0) -> None:
        super().__init__(direction=direction, concentration=concentration)


class Weibull(Distribution):
    """Positive numbers by the logarithm of their mean and the shape."""

    def __init__(self, log_mean: Parameter, shape: Parameter = 1.0) -> None:
        super().__init__(log_mean=log_mean, shape=shape)


class ZeroInflated(Distribution):
    """Counts of another distribution, with more zeros: 0 with the probability of the gate."""

    def __init__(self, base: Binomial | NegativeBinomial | Poisson, gate_logits: Parameter) -> None:
        super().__init__(**base._parameters, gate_logits=gate_logits)
        self._name = f"ZeroInflated{base._name}"
        self._batch = base._batch
