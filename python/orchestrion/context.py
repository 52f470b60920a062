"""Exact context selection (document 000, section 5)."""

from __future__ import annotations

import os
from typing import Any

from ._native import Selection, _solve_context

__all__ = ["Selection", "solve"]


def solve(
    problem: dict[str, Any] | str | os.PathLike[str],
    *,
    budget: int | None = None,
    solver: str = "native",
    max_nodes: int | None = None,
    max_work: int | None = None,
) -> Selection:
    """Selects the items of maximum utility within the budget, with all their dependencies.

    The problem is a file or a dictionary in the form of one. The solvers are `native` and `ilp`, which are exact, and the baselines
    `greedy`, `ranked` and `recent`. `max_nodes` and `max_work` limit the search: a search that hits a limit has a bound, and no
    proof.
    """
    return _solve_context(problem, budget=budget, solver=solver, max_nodes=max_nodes, max_work=max_work)
