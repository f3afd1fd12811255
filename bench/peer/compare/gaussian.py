"""Bounds of Gaussians in this model without sampling, and the best ones there are.

A Gaussian over the weights makes each row's logit Gaussian too, so that the expected log
likelihood is one integral per row (Gauss–Hermite), and the rest of the bound is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compare.data import Data

Vector = NDArray[np.float64]
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()


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

    def bound(self, data: Data) -> float:
        """The bound on the log evidence, up to the error of the quadrature."""
        logit, deviation = self._logits(data)
        expected = data.y @ logit
        for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
            expected -= weight * np.logaddexp(0.0, logit + node * deviation).sum()
        # ½D ln 2π cancels between prior and entropy.
        prior = -0.5 * (self.mean @ self.mean + (self.factor**2).sum())
        entropy = np.log(np.abs(np.diagonal(self.factor))).sum() + 0.5 * self.mean.size
        return float(expected + prior + entropy)

    def _logits(self, data: Data) -> tuple[Vector, Vector]:
        spread = data.x @ self.factor
        return data.x @ self.mean, np.sqrt(np.einsum("nd,nd->n", spread, spread))

    def slope_and_curvature(self, data: Data) -> tuple[Vector, Vector]:
        """Expected gradient and negative Hessian of the log joint."""
        logit, deviation = self._logits(data)
        share = np.zeros(data.rows)
        curve = np.zeros(data.rows)
        for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
            sigmoid = 1.0 / (1.0 + np.exp(-(logit + node * deviation)))
            share += weight * sigmoid
            curve += weight * sigmoid * (1.0 - sigmoid)
        slope = data.x.T @ (data.y - share) - self.mean
        return slope, data.x.T @ (data.x * curve[:, None]) + np.eye(self.mean.size)


def best(data: Data, base: str) -> Gaussian:
    """The Gaussian of the largest bound, by Newton's steps on the expected log joint.

    At the optimum the expected gradient is zero and the precision is the expected curvature
    (Opper & Archambeau 2009), or its diagonal for independent weights.
    """
    size = data.columns
    now = Gaussian(np.zeros(size), 1e-3 * np.eye(size))
    value = -np.inf
    for _ in range(200):
        slope, curvature = now.slope_and_curvature(data)
        if base == "FullRank":
            factor = np.linalg.cholesky(np.linalg.inv(curvature))
        else:
            factor = np.diag(1.0 / np.sqrt(np.diagonal(curvature)))
        now = _climbed(data, now.mean, np.linalg.solve(curvature, slope), factor)
        before, value = value, now.bound(data)
        if abs(value - before) < 1e-6:
            break
    return now


def _climbed(data: Data, mean: Vector, step: Vector, factor: Vector) -> Gaussian:
    """The step, halved until the bound does not fall far behind that of a smaller one."""
    tries = [Gaussian(mean + step * 0.5**k, factor) for k in range(4)]
    return max(tries, key=lambda one: one.bound(data))
