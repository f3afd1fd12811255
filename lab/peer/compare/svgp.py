"""GPyTorch's side: a sparse variational process, one line of JSON in, one line out.

Whitened inducing points as its examples have them (`VariationalStrategy`), in 64 bits; q by Adam on
a Cholesky factor, or by natural gradients (`NGD`), everything else by Adam.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

warnings.filterwarnings("ignore")

import gpytorch  # noqa: E402
import torch  # noqa: E402

from compare.data import read  # noqa: E402

BLOCK = 100
SHARE = 0.1  # of the natural gradient, GPyTorch's example

Request = dict[str, Any]


class Process(gpytorch.models.ApproximateGP):
    """A function by its values at inducing points."""

    def __init__(self, points: torch.Tensor, natural: bool) -> None:
        """Starts at these points."""
        count, columns = points.shape
        law = (
            gpytorch.variational.NaturalVariationalDistribution(count)
            if natural
            else gpytorch.variational.CholeskyVariationalDistribution(count)
        )
        strategy = gpytorch.variational.VariationalStrategy(
            self, points, law, learn_inducing_locations=True
        )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ZeroMean()
        kernel = gpytorch.kernels.RBFKernel(ard_num_dims=columns)
        kernel.lengthscale = columns**0.5
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)
        self.covar_module.outputscale = 1.0

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at these places."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Session:
    """What is kept between questions."""

    def data(self, path: str, rows: int, columns: int, test: int) -> Request:
        """Takes a table whose last rows are tests."""
        x, y = (torch.from_numpy(one.copy()) for one in read(Path(path), rows, columns))
        self.x, self.y = x[: rows - test], y[: rows - test]
        self.test = (x[rows - test :], y[rows - test :])
        return {}

    def build(
        self, points: str, count: int, batch: int, noise: str, rates: list[float], way: str
    ) -> Request:
        """A process that starts at these points."""
        self.rates, self.done = rates, 0
        columns = self.x.shape[1]
        places = torch.from_numpy(np.fromfile(points, dtype="<f8").reshape(count, columns))
        self.batch, natural = batch, way == "natural"
        self.model = Process(places, natural).double()
        if noise == "normal":
            self.likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
            self.likelihood.noise = 0.25
        else:
            self.likelihood = gpytorch.likelihoods.StudentTLikelihood().double()
            self.likelihood.noise, self.likelihood.deg_free = 0.25, 4.0
        self.bound = gpytorch.mlls.VariationalELBO(self.likelihood, self.model, len(self.y))
        own = set(self.model.variational_parameters())
        rest = [one for one in self.model.parameters() if one not in own]
        rest += list(self.likelihood.parameters())
        self.by_adam = torch.optim.Adam(rest if natural else rest + list(own), lr=rates[0])
        self.optimisers: list[torch.optim.Optimizer] = [self.by_adam]
        if natural:
            self.optimisers.append(gpytorch.optim.NGD(list(own), num_data=len(self.y), lr=SHARE))
        self.random = torch.Generator().manual_seed(1)
        self.order = torch.randperm(len(self.y), generator=self.random)
        self.at = 0
        return {}

    def chosen(self) -> torch.Tensor:
        """The next batch of an epoch."""
        if self.at + self.batch > len(self.y):
            self.order = torch.randperm(len(self.y), generator=self.random)
            self.at = 0
        self.at += self.batch
        return self.order[self.at - self.batch : self.at]

    def block(self) -> Request:
        """Trains a block further."""
        for group in self.by_adam.param_groups:
            group["lr"] = self.rates[min(self.done, len(self.rates) - 1)]
        self.done += 1
        self.model.train()
        self.likelihood.train()
        loss = torch.zeros(())
        for _ in range(BLOCK):
            rows = self.chosen()
            for optimiser in self.optimisers:
                optimiser.zero_grad()
            loss = -self.bound(self.model(self.x[rows]), self.y[rows])
            loss.backward()
            for optimiser in self.optimisers:
                optimiser.step()
        return {"loss": float(loss)}

    def score(self) -> Request:
        """The log likelihood of a test row."""
        self.model.eval()
        self.likelihood.eval()
        logs = []
        with torch.no_grad():
            for x, y in zip(*(one.split(1024) for one in self.test), strict=True):
                logs.append(self.likelihood.log_marginal(y, self.model(x)))
        return {"log_likelihood": float(torch.cat(logs).mean())}

    def answer(self, request: Request) -> Request:
        """Answers one question."""
        ask = request.pop("ask")
        answers = {
            "data": self.data,
            "build": self.build,
            "block": self.block,
            "score": self.score,
        }
        return answers[ask](**request)


def main() -> None:
    """Answers until the questions end."""
    torch.set_num_threads(int(sys.argv[1]))
    session = Session()
    for line in sys.stdin:
        print(json.dumps(session.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
