"""Prints the values that Storm computes for exported chains: storm.py FOLDER NAME.

One line for each metric: its name, the least and the greatest expected value, which are equal without adversaries.
"""

import sys
from pathlib import Path

import stormpy
from stormpy import environments

ENDINGS = ["completed", "blocked", "rolled_back", "aborted", "halted", "unconcluded"]


def environment():
    # The default precision is 1e-6, relative.
    environment = environments.Environment()
    solver = environment.solver()
    solver.set_linear_equation_solver_type(environments.EquationSolverType.ELIMINATION)
    min_max = solver.min_max()
    min_max.method = environments.MinMaxMethod.POLICY_ITERATION
    min_max.precision = stormpy.Rational("1/10000000000000")
    return environment


def main(folder, name):
    transitions, labels = str(folder / f"{name}.tra"), str(folder / f"{name}.lab")
    end = " | ".join(f'"{ending}"' for ending in ENDINGS)
    for path in sorted(folder.glob(f"{name}.*.?rew")):
        metric, kind = path.name.removeprefix(f"{name}.").rsplit(".", 1)
        rewards = {"srew": "state_rewards", "trew": "transition_rewards"}[kind]
        model = stormpy.build_model_from_explicit(transitions, labels, **{rewards: str(path)})
        values = []
        for direction in ["min", "max"] if kind == "trew" else ["", ""]:
            formula = stormpy.parse_properties(f"R{direction}=? [F {end}]")[0]
            result = stormpy.model_checking(model, formula, environment=environment(), only_initial_states=True)
            values.append(result.get_value(model.initial_states[0]))
        print(metric, *map(repr, values))


main(Path(sys.argv[1]), sys.argv[2])
