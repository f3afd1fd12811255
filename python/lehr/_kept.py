"""A fit as it is kept: in a file, and beside the table that it was made of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lehr import _lehr, _option, _table
from lehr._table import Data


class Kept:
    """What the engine made, the table, and how that is read."""

    def __init__(self, native: _lehr.Fit, data: Data | None, reading: Mapping[str, Any]) -> None:
        self._native = native
        self._data = data
        self._reading = dict(reading)
        self._facts = native.facts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fit; the command and :func:`lehr.load` read it.

        Args:
            path: The file, such as ``fit.lehr``.
        """
        self._native.save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        """Return the saved file and how tables are read, without the table."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.lehr"
            self.save(path)
            return {"file": path.read_bytes(), "reading": self._reading}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Read the saved file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.lehr"
            path.write_bytes(state["file"])
            native = _lehr.Fit.load(str(path))
        Kept.__init__(self, native, None, state["reading"])

    def _source(
        self, data: Data, wanted: Sequence[str], reading: Mapping[str, Any]
    ) -> tuple[_lehr.Source, dict[str, Any]]:
        source = _table.source(data, lambda names: [n for n in names if n in wanted])
        options = reading if reading is self._reading else _option.reading(reading)
        return source, dict(options)

    def _fitted(
        self, data: Data | None, reading: Mapping[str, Any], more: Sequence[str] = ()
    ) -> tuple[_lehr.Source, dict[str, Any]]:
        """Return the table that was fitted as the engine takes it, and how it is read."""
        rows, options = self._fitted_data(data, reading)
        wanted = [*self._facts["columns"], *more]
        return _table.source(rows, lambda names: [n for n in names if n in wanted]), options

    def _fitted_data(
        self, data: Data | None, reading: Mapping[str, Any]
    ) -> tuple[Data, dict[str, Any]]:
        """Return the table that was fitted, and how it is read."""
        if data is not None:
            return data, _option.reading(reading)
        if self._data is None:
            raise _lehr.LehrError(
                "data: expected the table that was fitted, found none\n"
                "  hint: a fit that was loaded does not have it; give it as data"
            )
        return self._data, dict(self._reading)
