"""The keywords of fits and of tables, as the engine takes them."""

from __future__ import annotations

import logging
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lehr import _progress
from lehr._lehr import LehrError
from lehr._progress import Listener

if TYPE_CHECKING:
    from lehr._fit import Fit

logger = logging.getLogger("lehr")

# The keywords that say how a table is read, with their defaults.
READING: dict[str, Any] = {
    "missing": "refuse",
    "missing_text": (),
    "delimiter": None,
    "header": True,
    "categorical": (),
    "levels": {},
}

# The keywords that say how rows are predicted, with their defaults.
FORECAST: dict[str, Any] = {
    "new_levels": "refuse",
    "level": "groups",
    "draws": 200,
    "seed": 0,
    "quantiles": (5, 95),
    "responses": 0,
    "parameter": (),
}


def forecast(**given: Any) -> dict[str, Any]:
    """Return how rows are predicted: these keywords, and by default all others.

    >>> forecast(draws=50)["quantiles"]
    [5.0, 95.0]
    """
    found = FORECAST | given
    parameter = found["parameter"]
    return found | {
        "quantiles": [float(percent) for percent in found["quantiles"]],
        "parameter": [parameter] if isinstance(parameter, str) else list(parameter),
    }


def formulas(formula: str | Sequence[str]) -> list[str]:
    """Return the formula of the response, and those of parameters after it."""
    return [formula] if isinstance(formula, str) else list(formula)


def reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all keywords of reading, those that were not given by default."""
    unknown = sorted(set(options) - set(READING))
    if unknown:
        raise LehrError(f"no option {unknown[0]!r}\n  hint: there are {', '.join(READING)}")
    found = READING | dict(options)
    levels = {column: [str(level) for level in order] for column, order in found["levels"].items()}
    return found | {
        "missing_text": list(found["missing_text"]),
        "categorical": list(found["categorical"]),
        "levels": list(levels.items()),
    }


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Part keywords into those of reading and the settings of methods."""
    read = {name: value for name, value in options.items() if name in READING}
    settings = {name: value for name, value in options.items() if name not in READING}
    return reading(read), [(name.replace("_", "-"), _word(v)) for name, v in settings.items()]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def priors(prior: Mapping[str, str] | Sequence[str] | None) -> list[str]:
    """Return priors as the command takes them.

    >>> priors({"age": "normal(0, 1)"})
    ['age ~ normal(0, 1)']
    """
    if prior is None:
        return []
    if isinstance(prior, str):
        return [prior]
    if isinstance(prior, Mapping):
        return [f"{name} ~ {law}" for name, law in prior.items()]
    return list(prior)


@dataclass
class Keeping:
    """Where a fit is kept while it runs and when it is done."""

    output: str | None
    checkpoint: Path
    every: float
    restart: bool

    @staticmethod
    def of(
        output: str | os.PathLike[str] | None,
        resume: bool | str | os.PathLike[str],
        restart: bool,
        every: float,
    ) -> Keeping:
        """Refuse to continue or to replace an unfinished fit unasked."""
        name = None if output is None else os.fspath(output)
        if not isinstance(resume, bool):
            path = Path(resume)
        elif name is not None:
            path = Path(f"{name}.checkpoint")
        else:
            # Written when a phase ends or the fit is stopped, and removed when it is done.
            path = Path(tempfile.gettempdir()) / f"lehr-{uuid.uuid4().hex[:12]}.checkpoint"
            every = float("inf")
        if resume and not path.exists():
            raise LehrError(
                f"{path}: there is no unfinished fit to resume\n"
                "  hint: leave out resume to start anew"
            )
        if path.exists() and not resume and not restart:
            raise LehrError(
                f"{path}: an earlier fit to {name} was not finished\n"
                "  hint: resume=True continues it, restart=True starts anew"
            )
        return Keeping(name, path, every, restart)

    def how(self) -> dict[str, Any]:
        """Return what the engine is told of it."""
        return {
            "checkpoint": str(self.checkpoint),
            "checkpoint_every": self.every,
            "restart": self.restart,
            "rows": None if self.output is None else f"{self.output}.rows",
        }

    @contextmanager
    def kept(self, told: Listener | None) -> Iterator[None]:
        """Remove what shows how a fit stands, and a checkpoint that nobody can resume."""
        try:
            yield
        except LehrError:
            if self.output is None:
                self.checkpoint.unlink(missing_ok=True)
            raise
        finally:
            _progress.close(told)

    def done(self, made: Fit) -> Fit:
        """Save a fit that is done, which no longer needs its checkpoint."""
        if self.output is not None:
            made.save(self.output)
        self.checkpoint.unlink(missing_ok=True)
        for note in made.notes:
            logger.info(note)
        if not made.verdict.is_trusted:
            logger.warning("%s", made.verdict)
        return made


def how(
    methods: Sequence[str],
    settings: Sequence[tuple[str, str]],
    draws: int | None,
    seed: int,
    threads: int | None,
) -> dict[str, Any]:
    """Return how a model is fitted, not yet watched nor kept."""
    return {
        "methods": list(methods),
        "settings": list(settings),
        "draws": draws,
        "seed": seed,
        "threads": threads,
        "progress": None,
        "checkpoint": None,
        "checkpoint_every": 0.0,
        "restart": False,
        "rows": None,
    }


def watched(asked: dict[str, Any], told: Listener | None) -> dict[str, Any]:
    """Return the same, watched."""
    return asked | {"progress": told}
