"""Groups of named arrays as ArviZ knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lehr._lehr import LehrError
from lehr._table import Data


def inference_data(
    groups: Sequence[tuple[str, Sequence[Any]]],
    attributes: Mapping[str, str],
    constant: Mapping[str, Any],
) -> Any:
    """Return an `InferenceData`, or a `DataTree` where ArviZ is 1 or newer."""
    try:
        import arviz
        import xarray as xr
    except ImportError as error:
        raise LehrError(
            "to_arviz: expected ArviZ to be installed, found none\n  hint: pip install arviz"
        ) from error
    found = {name: _dataset(variables, attributes) for name, variables in groups}
    if constant:
        arrays = {name: ("row", np.asarray(values)) for name, values in constant.items()}
        found["constant_data"] = xr.Dataset(arrays, attrs=dict(attributes))
    # From 1 on ArviZ still has something of that name, which only says that it is gone.
    if int(arviz.__version__.split(".")[0]) < 1:
        return arviz.InferenceData(**found)
    return xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in found.items()})


def _dataset(variables: Sequence[Any], attributes: Mapping[str, str]) -> Any:
    import xarray as xr

    arrays, coordinates = {}, {}
    for name, axes, values, own in variables:
        shape = [labels if isinstance(labels, int) else len(labels) for _, labels in axes]
        array = values.reshape(shape)
        if dict(own).get("dtype") == "bool":
            array = array.astype(bool)
        notes = {key: value for key, value in own if key != "dtype"}
        arrays[name] = ([axis for axis, _ in axes], array, notes)
        for axis, labels in axes:
            coordinates[axis] = np.arange(labels) if isinstance(labels, int) else list(labels)
    return xr.Dataset(arrays, coords=coordinates, attrs=dict(attributes))


def constant(
    data: Data | None, names: Sequence[str], found: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    """The predictors of each row, where the rows are at hand and as many as were observed."""
    rows = [v[2].size for group, values in found if group == "observed_data" for v in values]
    if not rows or data is None or not hasattr(data, "__getitem__") or isinstance(data, str):
        return {}
    held = {name: np.asarray(data[name]) for name in names if name in _keys(data)}
    return {name: values for name, values in held.items() if values.shape == (rows[0],)}


def _keys(data: Data) -> Sequence[str]:
    keys = data.keys() if hasattr(data, "keys") else getattr(data, "columns", ())
    return [str(key) for key in keys] if not callable(keys) else ()
