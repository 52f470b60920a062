"""Measures how many inputs a second a policy decides from Python: `python python/benches/steps.py`, with the package installed."""

import time

import orchestrion
from orchestrion import Input, Policy, State


def recorded_inputs() -> tuple[State, list[Input]]:
    """Returns a state with an open session, and the inputs of one request."""
    policy, state = Policy(), State("speed")
    state.step(policy, Input.session_start("ada"))
    start, inputs = state.copy(), [Input.user_message("ada", "Encrypt the profiles")]
    state.step(policy, inputs[0])
    while state.phase != "Idle":
        given = state.next_input(policy) or Input.argument(state.pending_calls[0], "pro", 0.9)
        state.step(policy, given)
        inputs.append(given)
    return start, inputs


def rate(step) -> float:
    """Returns inputs a second of processor time: other processes do not count. The best of five measurements."""
    policy = Policy()
    start, inputs = recorded_inputs()
    best = 0.0
    for _ in range(5):
        begin = time.process_time()
        for _ in range(200):
            state = start.copy()
            for given in inputs:
                step(policy, state, given)
        best = max(best, 200 * len(inputs) / (time.process_time() - begin))
        assert state.phase == "Idle"
    return best


def decide_and_apply(policy: Policy, state: State, given: Input) -> None:
    state.apply(orchestrion.decide(policy, state, given))


def step(policy: Policy, state: State, given: Input) -> None:
    state.step(policy, given)


if __name__ == "__main__":
    for name, measured in [("decide and apply", rate(decide_and_apply)), ("State.step", rate(step))]:
        print(f"{name}: {measured:,.0f} inputs a second of processor time")
