"""Scenario runs."""

from pathlib import Path

import pytest

import orchestrion
from conftest import SCENARIOS, golden_scenarios
from orchestrion import Policy, read_trace

RANDOM = """
description: A random critic.
user: ada
seed: 1
requests: [{text: Encrypt the profiles}]
modules:
  analyst: {pro: {confidence: 0.9}}
  solution: {pro: {confidence: 0.9}}
  critic: {random: {seed: critic, choices: [{reply: {pro: {confidence: 0.9}}}, {reply: {con: {confidence: 0.9}}}]}}
  security: {pro: {confidence: 0.9}}
  optimizer: {pro: {confidence: 0.9}}
"""


@pytest.mark.parametrize("scenario", golden_scenarios(), ids=lambda path: path.stem)
def test_run_writes_golden_trace(scenario: Path) -> None:
    result = orchestrion.run(scenario)
    assert result.trace == scenario.with_suffix(".ndjson").read_bytes()
    assert (result.name, result.steps) == (scenario.stem, sum(1 for _ in read_trace(result.trace)))
    assert result.unmet == []


def test_result_states_endings() -> None:
    result = orchestrion.run(SCENARIOS / "happy.yaml")
    [ending] = result.requests
    assert (ending.request, ending.outcome, ending.label) == (1, "outcome", "consensus_reached")
    assert (ending.cause, ending.passes, ending.calls) == ("completed", 1, 15)
    assert (result.outcome, result.refusals, result.halted, result.succeeded) == ("outcome", [], None, True)
    assert orchestrion.run(SCENARIOS / "second-pass.yaml").requests[0].passes == 2


def test_result_states_refusals() -> None:
    result = orchestrion.run(SCENARIOS / "message-while-busy.yaml")
    recorded = [(step.number, step.refused) for step in read_trace(result.trace) if step.refused]
    assert recorded and result.refusals == recorded


def test_halted_run_states_refusal() -> None:
    result = orchestrion.run(SCENARIOS / "as-drawn-dead-end.yaml")
    assert result.halted is not None and result.halted == result.refusals[-1][1]
    assert not result.succeeded


def test_policy_replaces_that_of_scenario() -> None:
    scenario = SCENARIOS / "second-pass.yaml"
    policy = Policy().set("passes", 1)
    result = orchestrion.run(scenario, policy)
    assert result.requests[0].passes == 1
    assert read_trace(result.trace).policy == policy
    assert orchestrion.run(scenario, "hardened").trace == orchestrion.run(scenario).trace


def test_policy_keeps_network_of_scenario() -> None:
    scenario = SCENARIOS / "network-load.yaml"
    recorded = read_trace(scenario.with_suffix(".ndjson")).policy
    assert orchestrion.run(scenario, recorded).trace == orchestrion.run(scenario).trace


def test_seed_replaces_that_of_scenario(tmp_path: Path) -> None:
    scenario = tmp_path / "random.yaml"
    scenario.write_text(RANDOM)

    def inputs(trace: bytes) -> list[str]:
        return [repr(step.input) for step in read_trace(trace)]

    # The header of a trace records a seed that replaces that of the file.
    assert inputs(orchestrion.run(scenario, seed=1).trace) == inputs(orchestrion.run(scenario).trace)
    runs = [orchestrion.run(scenario, seed=seed).trace for seed in range(20)]
    assert runs == [orchestrion.run(scenario, seed=seed).trace for seed in range(20)]
    assert len({tuple(inputs(run)) for run in runs}) > 1
