"""Bounds of Gaussians in this model without sampling, and the best ones there are.

A Gaussian over the weights makes each row's logit Gaussian too, so that the expected log
likelihood is one integral per row, and the rest of the bound is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from compare.data import Data

Vector = NDArray[np.float64]
# Up to this deviation of a logit Hermite's nodes resolve the sigmoid; beyond it equal steps do.
NARROW = 1.0
NODES = 16
# Each class of wider logits is so many times as wide as the one before.
WIDER = 4.0
# Steps of a logit, and the standard deviations they reach to either side.
STEP, REACH = 1.0, 7.5


def rule(widest: float) -> tuple[Vector, Vector]:
    """Nodes and weights of an integral over a standard normal."""
    if widest <= NARROW:
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    else:
        nodes = np.linspace(-REACH, REACH, int(2 * REACH * widest / STEP) + 2)
        weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()


@dataclass(frozen=True)
class Expected:
    """Integrals over a Gaussian: the log likelihood, and what its derivatives need."""

    log_likelihood: float
    share: Vector
    curve: Vector


def integrate(logit: Vector, deviation: Vector, y: Vector) -> Expected:
    """Σ E log p(yₙ | aₙ), E σ(aₙ) and E σ'(aₙ) for aₙ ~ N(logitₙ, deviationₙ²)."""
    share, curve = np.empty_like(logit), np.empty_like(logit)
    total = float(y @ logit)
    degree = np.ceil(np.log(np.maximum(deviation, NARROW) / NARROW) / np.log(WIDER))
    for one in np.unique(degree):
        chosen = degree == one
        nodes, weights = rule(NARROW * WIDER**one)
        at = logit[chosen, None] + deviation[chosen, None] * nodes
        total -= float(np.logaddexp(0.0, at).sum(axis=0) @ weights)
        sigmoid = expit(at)
        share[chosen] = sigmoid @ weights
        curve[chosen] = (sigmoid * (1.0 - sigmoid)) @ weights
    return Expected(total, share, curve)


@dataclass(frozen=True)
class Gaussian:
    """A mean and the lower factor of a covariance."""

    mean: Vector
    factor: Vector

    @staticmethod
    def of(answer: dict[str, Any]) -> Gaussian:
        """What a side has answered."""
        mean = np.array(answer["mean"])
        return Gaussian(mean, np.array(answer["factor"]).reshape(mean.size, mean.size))

    def expected(self, data: Data) -> Expected:
        """The integrals over the rows of a table."""
        spread = data.x @ self.factor
        deviation = np.sqrt(np.einsum("nd,nd->n", spread, spread))
        return integrate(data.x @ self.mean, deviation, data.y)

    def bound(self, data: Data) -> float:
        """The bound on the log evidence, up to the error of the quadrature."""
        return self._bound(self.expected(data))

    def _bound(self, expected: Expected) -> float:
        # ½D ln 2π cancels between prior and entropy.
        prior = -0.5 * (self.mean @ self.mean + (self.factor**2).sum())
        entropy = np.log(np.abs(np.diagonal(self.factor))).sum() + 0.5 * self.mean.size
        return float(expected.log_likelihood + prior + entropy)

    def derivatives(self, data: Data) -> tuple[float, Vector, Vector]:
        """The bound, its slope in the mean, and the expected curvature of the log joint."""
        expected = self.expected(data)
        slope = data.x.T @ (data.y - expected.share) - self.mean
        curvature = data.x.T @ (data.x * expected.curve[:, None]) + np.eye(self.mean.size)
        return self._bound(expected), slope, curvature


def laplace(data: Data) -> Gaussian:
    """The mode and the curvature there, by Newton's steps, halved where the joint would fall."""
    size = data.columns

    def value(mean: Vector) -> float:
        logit = data.x @ mean
        return float(data.y @ logit - np.logaddexp(0.0, logit).sum() - 0.5 * mean @ mean)

    mean = np.zeros(size)
    curvature = np.eye(size)
    for _ in range(50):
        share = expit(data.x @ mean)
        slope = data.x.T @ (data.y - share) - mean
        curvature = data.x.T @ (data.x * (share * (1.0 - share))[:, None]) + np.eye(size)
        step = np.linalg.solve(curvature, slope)
        tries = [mean + step * 0.5**k for k in range(12)]
        mean = next((t for t in tries if value(t) > value(mean)), mean)
        if slope @ step < 1e-12:
            break
    return Gaussian(mean, np.linalg.cholesky(np.linalg.inv(curvature)))


def best(data: Data, base: str) -> Gaussian:
    """The Gaussian of the largest bound: a concave problem, climbed by L-BFGS from Laplace.

    The mean moves in the coordinates in which the Laplace approximation is standard, and so
    does a full factor.
    """
    frame = laplace(data)
    size = data.columns
    below = np.tril_indices(size, -1)
    alone = 1.0 / np.linalg.norm(solve_triangular(frame.factor, np.eye(size), lower=True), axis=0)

    def placed(point: Vector) -> tuple[Gaussian, Vector]:
        mean = frame.mean + frame.factor @ point[:size]
        inner = np.diag(np.exp(point[size : 2 * size]))
        inner[below] = point[2 * size :] if base == "FullRank" else 0.0
        outer = frame.factor if base == "FullRank" else np.diag(alone)
        return Gaussian(mean, outer @ inner), inner

    def negative(point: Vector) -> tuple[float, Vector]:
        now, inner = placed(point)
        value, slope, curvature = now.derivatives(data)
        outer = frame.factor if base == "FullRank" else np.diag(alone)
        pull = -outer.T @ curvature @ now.factor
        diagonal = np.diagonal(pull) * np.diagonal(inner) + 1.0
        parts = [frame.factor.T @ slope, diagonal, pull[below] if base == "FullRank" else []]
        return -value, -np.concatenate(parts)

    length = 2 * size + (below[0].size if base == "FullRank" else 0)
    options = {"maxiter": 500, "maxcor": 30, "ftol": 1e-10, "gtol": 1e-3}
    found = minimize(negative, np.zeros(length), jac=True, method="L-BFGS-B", options=options)
    return placed(found.x)[0]
