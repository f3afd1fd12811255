"""From a formula and a table to a fit."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lehr import _lehr, _option, _progress, _ray, _table
from lehr._comparison import Comparison
from lehr._fit import Fit
from lehr._progress import Listener
from lehr._ray import Cluster
from lehr._table import Data

if TYPE_CHECKING:
    import pandas as pd


def fit(
    formula: str | Sequence[str],
    data: Data,
    *,
    family: str | Sequence[str] | None = None,
    prior: Mapping[str, str] | Sequence[str] | None = None,
    prior_only: bool = False,
    method: str = "auto",
    seed: int = 0,
    draws: int | None = None,
    threads: int | None = None,
    memory: str | int = "1GiB",
    cluster: str | Cluster | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: bool | str | os.PathLike[str] = False,
    restart: bool = False,
    checkpoint_every: float = 10.0,
    progress: bool | Listener | None = None,
    **options: Any,
) -> Fit:
    """Fit a regression to a table.

    Args:
        formula: The model, such as ``"y ~ x + C(color) + (1 | site)"``; a list of that and of
            formulas of the family's parameters, such as ``"sigma ~ x"``.
        data: A table: anything with the Arrow PyCapsule interface (polars, pyarrow, duckdb), a
            pandas data frame, a mapping of names to arrays, or the names of files, folders or
            patterns, which are read by the engine and may be larger than memory.
        family: How the response is distributed; by default the response decides. Of several
            responses one for all, or a list with one for each.
        prior: Priors by name, such as ``{"x": "normal(0, 1)"}``.
        prior_only: Draw from the prior and fit nothing. What is returned predicts and reports as
            a fit does, and says what it is.
        method: The method; see :func:`lehr.methods`. By default the model and the table decide.
        seed: Where all randomness comes from.
        draws: Draws that the result is judged and summarised by.
        threads: How many threads; the result does not depend on it.
        memory: The most that the columns of files may take in memory. From a quarter of it on,
            Parquet files are read anew for each of a few passes where the model allows it; other
            tables that are larger are shuffled on disk.
        cluster: Fit on Ray: ``"ray"``, the address of a cluster, or a :class:`lehr.Cluster`. The
            data are then names of Parquet files that all nodes can read.
        output: Where the fit is saved; a stopped fit leaves a checkpoint beside it.
        resume: Continue an unfinished fit: ``True`` with an output, or its checkpoint.
        restart: Start anew although there is an unfinished fit.
        checkpoint_every: Seconds between checkpoints.
        progress: Whether to show how far it is: by default in terminals and notebooks. A
            function is called instead with what is done, how much, the unit, the total and the
            bound.
        **options: Settings of the method, such as ``surrogate_rows=256``, and how the table is
            read: ``missing``, ``missing_text``, ``delimiter``, ``header``, ``categorical``,
            ``levels``. They have the names of the command's options.

    Returns:
        The fit, which shows its verdict and its coefficients.

    Raises:
        LehrError: A mistake, with where it is, what was expected and what was found.
        Interrupted: Ctrl-C; the message names the checkpoint to resume from.

    >>> import numpy as np
    >>> hours = np.arange(40) % 10
    >>> passed = (hours * 7 + np.arange(40)) % 13 < hours
    >>> table = {"hours": hours, "passed": passed}
    >>> fit = fit("passed ~ hours", table, method="full-rank", progress=False)
    >>> list(fit.coefficients.index)
    ['Intercept', 'hours']
    """
    reading, settings = _option.split(options)
    keeping = _option.Keeping.of(output, resume, restart, checkpoint_every)
    asked = _asked(formula, family, prior, memory) | {"prior_only": prior_only}
    if prior_only and (method != "auto" or resume or cluster is not None):
        raise _lehr.LehrError(
            "prior_only: expected no method, resume or cluster beside it, which fits nothing"
        )
    how = _option.how([method], settings, draws, seed, threads) | keeping.how()
    told = _progress.listener("fit", progress)
    with keeping.kept(told):
        how = _option.watched(how, told)
        if cluster is None:
            source = _source(formula, data)
            made = _lehr.fit(asked, source, reading, how)
        else:
            with _ray.table(data, reading, _ray.Cluster.of(cluster)) as table:
                made = _lehr.fit_cluster(asked, table, reading, how)
    return keeping.done(Fit(made[0], data, reading))


def compare(
    formula: str | Sequence[str],
    data: Data,
    *,
    methods: Sequence[str] = ("mean-field", "full-rank", "sl-dais"),
    test: Data | None = None,
    family: str | Sequence[str] | None = None,
    prior: Mapping[str, str] | Sequence[str] | None = None,
    seed: int = 0,
    draws: int | None = None,
    threads: int | None = None,
    memory: str | int = "1GiB",
    progress: bool | Listener | None = None,
    **options: Any,
) -> Comparison:
    """Fit the same regression by several methods and compare them.

    Args:
        formula: As in :func:`lehr.fit`, like all that is not listed here.
        data: The table.
        methods: The methods; each takes the settings that concern it.
        test: Held-out rows to judge each fit by.
        family: How the response is distributed.
        prior: Priors by name.
        seed: Where all randomness comes from.
        draws: Draws that the results are judged by.
        threads: How many threads.
        memory: The most that columns may take in memory.
        progress: Whether to show how far it is.
        **options: Settings of methods, and how tables are read.

    >>> import numpy as np
    >>> x = np.arange(60) / 30 - 1
    >>> table = {"x": x, "y": x + np.cos(9 * np.arange(60))}
    >>> found = compare("y ~ x", table, methods=["mean-field", "full-rank"], progress=False)
    >>> list(found.table.index)
    ['mean-field', 'full-rank']
    """
    reading, settings = _option.split(options)
    source = _source(formula, data)
    how = _option.how(methods, settings, draws, seed, threads)
    asked = _asked(formula, family, prior, memory)
    with _progress.told("compare", progress) as told:
        made = _lehr.fit(asked, source, reading, _option.watched(how, told))
    fits = [Fit(one, data, reading) for one in made]
    return Comparison(fits, test)


def load(path: str | os.PathLike[str]) -> Fit:
    """Read a fit that was saved here or by the command.

    Args:
        path: A file such as ``fit.lehr``.
    """
    return Fit(_lehr.Fit.load(os.fspath(path)), None, _option.reading({}))


def methods() -> pd.DataFrame:
    """List the methods: when to choose each, and its settings.

    >>> "sl-dais" in methods().index
    True
    """
    import pandas as pd

    rows = [(name, when, [s for s, _ in settings]) for name, when, settings in _lehr.methods()]
    frame = pd.DataFrame(rows, columns=["method", "choose it when", "settings"])
    return frame.set_index("method")


def families() -> pd.DataFrame:
    """List the families of responses, their links and their parameters.

    >>> families().loc["poisson", "link"]
    'log'
    """
    import pandas as pd

    columns = ["family", "aliases", "link", "parameters", "help"]
    return pd.DataFrame(_lehr.families(), columns=columns).set_index("family")


@dataclass
class Priors:
    """What a model believes before it sees the rows: :func:`lehr.priors` makes it."""

    table: pd.DataFrame
    """Each prior, and who set it."""
    coefficients: pd.DataFrame | None = None
    """Quantiles of the coefficients by the prior, where they were asked for."""
    response: pd.DataFrame | None = None
    """What the response is like by the prior, and what it is like in the table."""

    def __repr__(self) -> str:
        shown = [one for one in (self.table, self.coefficients, self.response) if one is not None]
        return "\n\n".join(one.to_string() for one in shown)


def priors(
    formula: str | Sequence[str],
    data: Data,
    *,
    family: str | Sequence[str] | None = None,
    prior: Mapping[str, str] | Sequence[str] | None = None,
    memory: str | int = "1GiB",
    predictive: bool = False,
    draws: int = 500,
    seed: int = 0,
    **options: Any,
) -> Priors:
    """List the priors of a model and who set each; nothing is fitted.

    Args:
        formula: As in :func:`lehr.fit`, like all that is not listed here.
        data: The table, to which default priors are scaled.
        family: How the response is distributed.
        prior: Priors by name.
        memory: The most that columns may take in memory.
        predictive: Whether to draw from the priors: what coefficients and responses they expect.
        draws: How many draws.
        seed: Where they come from.
        **options: How the table is read.

    >>> import numpy as np
    >>> table = {"x": np.arange(9.0), "y": np.sqrt(np.arange(9.0))}
    >>> priors("y ~ x", table, prior={"x": "normal(0, 3)"}).table.loc["x", "prior"]
    'normal(0, 3)'
    """
    import pandas as pd

    reading = _option.reading(options)
    asked = _asked(formula, family, prior, memory)
    drawn = (draws, seed) if predictive else None
    rows, expected = _lehr.priors(asked, _source(formula, data), reading, drawn)
    table = pd.DataFrame(rows, columns=["name", "prior", "origin"]).set_index("name")
    if expected is None:
        return Priors(table)
    found = json.loads(expected)
    return Priors(
        table,
        pd.DataFrame(found["coefficients"]).set_index("name"),
        pd.DataFrame(found["response"]).set_index("name") if found["response"] else None,
    )


def _source(formula: str | Sequence[str], data: Data) -> _lehr.Source:
    """Return the columns of a table that a formula reads, as the engine takes them."""
    return _table.source(data, lambda names: _lehr.needed(_option.formulas(formula), names))


def _asked(
    formula: str | Sequence[str],
    family: str | Sequence[str] | None,
    prior: Mapping[str, str] | Sequence[str] | None,
    memory: str | int,
) -> dict[str, Any]:
    return {
        "formula": _option.formulas(formula),
        "prior_only": False,
        "family": family if family is None or isinstance(family, str) else ",".join(family),
        "prior": _option.priors(prior),
        "memory": str(memory),
    }
