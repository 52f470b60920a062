"""Tables for other packages: pandas and Arrow."""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

Column: TypeAlias = Sequence[int] | Sequence[float] | Sequence[str]


class Table:
    """Columns of equal length, by name. Numbers are arrays of the module `array`; a number that does not exist is NaN."""

    def __init__(self, columns: dict[str, Column]) -> None:
        """Creates a table of these columns."""
        self._columns = columns

    def columns(self) -> dict[str, Column]:
        """Returns the columns by their names, in their order."""
        return dict(self._columns)

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`. Needs `pip install pandas`."""
        pandas = _import("pandas", "to_pandas")
        return pandas.DataFrame({name: pandas.Series(column, dtype=_dtype(column)) for name, column in self._columns.items()})

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table`, with nulls for numbers that do not exist. Needs `pip install pyarrow`."""
        arrow = _import("pyarrow", "to_arrow")
        types = {"int64": arrow.int64(), "float64": arrow.float64(), "bool": arrow.bool_(), "str": arrow.string()}
        columns = [arrow.array(column, types[_dtype(column)], from_pandas=True) for column in self._columns.values()]
        return arrow.Table.from_arrays(columns, names=list(self._columns))

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def __repr__(self) -> str:
        return f"Table({len(self)} rows, columns={list(self._columns)})"


def _dtype(column: Column) -> str:
    """Returns the type of a column, as pandas names it."""
    if isinstance(column, array):
        return "int64" if column.typecode == "q" else "float64"
    return "bool" if isinstance(next(iter(column), None), bool) else "str"


def _import(package: str, method: str) -> Any:
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        text = f"{method} needs the package {package}, which is not installed; run pip install {package}"
        raise ModuleNotFoundError(text, name=package) from None
