"""Checks of claims, and contexts."""

import json
from pathlib import Path

import pytest

import orchestrion
from conftest import ROOT, Command
from orchestrion import CheckError, InputError, Policy, ReadError, State, context

MODELS = ["debate", "lifecycle"]
CLAIMS = """
claims:
- id: no-approval
  never: {operation: approve}
- id: no-task
  never: {operation: run_task}
"""
LOOKUP = ROOT / "specs" / "problems" / "lookup.json"


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("claims") / "mine.yaml"
    path.write_text(CLAIMS)
    return path


@pytest.mark.parametrize("policy", ["hardened", "as-drawn"])
def test_verdicts_equal_command(policy: str, command: Command, claims: Path, tmp_path: Path) -> None:
    chosen = [word for model in MODELS for word in ("--model", model)]
    arguments = ["check", "--policy", policy, "--scope", "tiny", *chosen, "--claims", claims]
    printed = command(*arguments, "--format", "json", "--quiet", cwd=tmp_path)
    report = json.loads(printed.stdout)
    result = orchestrion.check(policy, "tiny", MODELS, claims)
    expected = {claim["id"]: claim["verdict"] for claim in report["claims"] + report["user_claims"]}
    assert {verdict.claim: verdict.verdict for verdict in result} == expected
    found = {
        claim["id"]: (claim["model"], (claim["counterexample"] or {}).get("steps"))
        for claim in report["claims"]
        if claim["verdict"] == "fails"
    }
    paths = {v.claim: v.counterexample for v in result if v.counterexample and v.claim in found}
    assert {claim: (path.model, len(path.inputs)) for claim, path in paths.items()} == found
    assert [run["states"] for run in report["runs"]] == [run.states for run in result.runs]
    assert {0: "holds", 1: "fails", 3: "incomplete"}[printed.returncode] == result.verdict


def test_counterexample_is_a_run(claims: Path) -> None:
    result = orchestrion.check("hardened", "tiny", ["debate"], claims)
    assert (result["no-task"].verdict, result["no-approval"].verdict) == ("fails", "holds")
    path = result["no-task"].counterexample
    assert path is not None and path.stem_len is None
    state = State("model")
    for at_ms, given in path.inputs:
        events = state.step(path.policy, given, at_ms)
    assert any(e.kind == "tool_call" and "run_task" in e.fields["operation"] for e in events)


def test_scope_file_equals_command(command: Command, tmp_path: Path) -> None:
    scope = ROOT / "specs" / "scopes" / "failing-tasks.yaml"
    printed = command("check", "--policy", "hardened", "--scope", scope, "--format", "json", "--quiet", cwd=tmp_path)
    report = json.loads(printed.stdout)
    result = orchestrion.check("hardened", scope)
    runs = [(run["model"], run["scope"], run["states"]) for run in report["runs"]]
    assert [(run.model, run.scope, run.states) for run in result.runs] == runs
    assert {v.claim: v.verdict for v in result} == {claim["id"]: claim["verdict"] for claim in report["claims"]}


def test_scope_file_that_defines_a_model_excludes_models(tmp_path: Path) -> None:
    scope = tmp_path / "mine.yaml"
    scope.write_text("open: [cancel]\n")
    with pytest.raises(ReadError, match="`models` has no effect") as caught:
        orchestrion.check("hardened", scope, ["debate"])
    assert caught.value.location is not None and caught.value.location.endswith("mine.yaml:1:7")
    scope.write_text("opne: [cancel]\n")
    with pytest.raises(ReadError, match="did you mean `open`"):
        orchestrion.check("hardened", scope)


def test_limit_leaves_claims_inconclusive() -> None:
    result = orchestrion.check(Policy(), "tiny", ["debate"], max_states=50, jobs=1)
    assert result.verdict == "incomplete"
    assert [run.is_exhaustive for run in result.runs] == [False]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(CheckError, match="did you mean `tiny`") as caught:
        orchestrion.check("hardened", "tinny")
    assert caught.value.message == "unknown scope `tinny`: expected a name or a file"
    with pytest.raises(CheckError, match="did you mean `debate`"):
        orchestrion.check("hardened", "tiny", ["debat"])
    with pytest.raises(KeyError, match="C-999"):
        orchestrion.check("hardened", "tiny", ["debate"], max_states=1)["C-999"]


@pytest.mark.parametrize("solver", ["native", "ilp", "greedy", "ranked", "recent"])
def test_selection_equals_command(solver: str, command: Command) -> None:
    printed = command("context", "solve", LOOKUP, "--solver", solver, "--format", "json")
    report = json.loads(printed.stdout)
    for problem in (LOOKUP, json.loads(LOOKUP.read_text())):
        found = context.solve(problem, solver=solver)
        assert (found.selected, found.utility, found.cost) == (report["selected"], report["utility"], report["cost"])
        assert (found.bound, found.nodes, found.solver) == (report["bound"], report["nodes"], report["solver"])
        assert found.is_optimal == (report["status"] == "optimal")
        assert found.loss == found.bound - found.utility


def test_budget_replaces_that_of_problem() -> None:
    problem = {"budget": 100, "items": [{"id": n, "utility": n, "cost": 10} for n in range(1, 11)]}
    assert context.solve(problem).selected == list(range(1, 11))
    assert context.solve(problem, budget=25).selected == [9, 10]
    assert problem["budget"] == 100
    with pytest.raises(InputError, match="unknown solver"):
        context.solve(problem, solver="magic")
