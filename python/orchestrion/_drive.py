"""Drives a conversation: the caller decides what debaters answer, and every other module succeeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ._native import Call, Event, Input, Policy, State


def advance(policy: Policy, state: State, events: list[Event] | None = None) -> Call | None:
    """Continues until a debater must argue, and returns its call. Returns `None` when no request runs any more.

    The state changes. The events are added to the list.
    """
    while (following := state.next_input(policy)) is not None:
        batch = state.step(policy, following)
        if events is not None:
            events.extend(batch)
    calls = state.pending_calls
    return calls[0] if calls else None


def drive(
    policy: Policy,
    state: State,
    text: str,
    argue: Callable[[Call, State], tuple[str, float]],
) -> Iterator[Event]:
    """Runs one request of the session user to its end, and yields its events.

    `argue` returns the stance (`pro` or `con`) and the confidence of each argument.
    """
    events: list[Event] = list(state.step(policy, Input.user_message(state.session or "", text)))
    while (call := advance(policy, state, events)) is not None:
        stance, confidence = argue(call, state)
        events.extend(state.step(policy, Input.argument(call, stance, confidence)))
    return iter(events)
