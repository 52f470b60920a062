"""Traces: the package decides what the golden traces record."""

import itertools
import json
from pathlib import Path

import pytest

import orchestrion
from conftest import SCENARIOS, golden_scenarios
from orchestrion import Policy, Refusal, State, TraceError, read_trace

HAPPY = SCENARIOS / "happy.ndjson"


@pytest.mark.parametrize("scenario", golden_scenarios(), ids=lambda path: path.stem)
def test_decisions_equal_golden_trace(scenario: Path) -> None:
    trace = read_trace(scenario.with_suffix(".ndjson"))
    state, policy = State(trace.conversation), trace.policy
    refused = 0
    for step in trace:
        if step.refused is None:
            assert state.step(policy, step.input, step.at_ms) == step.events
        else:
            with pytest.raises(Refusal) as caught:
                state.step(policy, step.input, step.at_ms)
            assert str(caught.value) == step.refused
            refused += 1
    assert refused == sum(step.refused is not None for step in read_trace(scenario.with_suffix(".ndjson")))


def test_steps_have_published_encoding() -> None:
    lines = [json.loads(line) for line in HAPPY.read_text().splitlines()]
    trace = read_trace(HAPPY)
    assert (trace.conversation, trace.scenario, trace.policy) == ("happy", "happy", Policy("hardened"))
    assert trace.header["kernel"] == lines[0]["kernel"]
    steps = list(trace)
    assert [step.number for step in steps] == list(range(1, len(lines) - 1))
    for step, line in zip(steps, lines[1:-1], strict=True):
        assert step.at_ms == line["at_ms"]
        if "$text" not in json.dumps(line["input"]):
            assert step.input.to_dict() == line["input"]
        if "$text" not in json.dumps(line.get("events", [])):
            assert step.events.to_list() == line.get("events", [])
        assert (step.context or {}).get("digest") == line.get("context", {}).get("digest")


def test_bytes_are_read_as_file() -> None:
    whole = [step.input for step in read_trace(HAPPY)]
    assert [step.input for step in read_trace(HAPPY.read_bytes())] == whole


def test_changed_line_raises_at_line() -> None:
    changed = HAPPY.read_bytes().replace(b'"stance":"pro"', b'"stance":"con"', 1)
    steps = read_trace(changed)
    read = list(itertools.islice(steps, 7))
    assert len(read) == 7
    with pytest.raises(TraceError) as caught:
        next(steps)
    assert caught.value.location == "the trace:9"
    assert str(caught.value) == f"{caught.value.location}: {caught.value.message}"
    with pytest.raises(StopIteration):
        next(steps)


def test_torn_trace_raises() -> None:
    with pytest.raises(TraceError):
        list(read_trace(HAPPY.read_bytes()[:-100]))
    with pytest.raises(TraceError, match="empty trace"):
        read_trace(b"")


def test_replay_of_golden_trace_is_equal() -> None:
    for trace in (HAPPY, HAPPY.read_bytes()):
        replay = orchestrion.replay(trace)
        assert (replay.verdict, replay.is_equal, replay.steps) == ("equal", True, 26)
        assert (replay.difference, replay.text_difference, replay.error) == (None, None, None)


def test_replay_under_other_policy_differs() -> None:
    policy = Policy().set("passes", 1)
    replay = orchestrion.replay(SCENARIOS / "second-pass.ndjson", policy)
    assert replay.verdict == "differs"
    assert replay.difference is not None and replay.difference.step > 1
    assert replay.changed is not None
    assert replay.header_differences


def test_replay_reports_error_of_trace() -> None:
    replay = orchestrion.replay(HAPPY.read_bytes()[:-100])
    assert (replay.verdict, replay.is_equal) == ("incomplete", False)
    assert replay.error is not None and replay.error.startswith("the trace:")
