"""States, inputs, events and refusals."""

import copy

import pytest

import orchestrion
from orchestrion import Event, Input, InputError, Policy, Refusal, State

HARDENED = Policy("hardened")


def session() -> State:
    state = State("test")
    state.step(HARDENED, Input.session_start("ada"))
    return state


def debate() -> State:
    state = session()
    state.step(HARDENED, Input.user_message("ada", "Encrypt the profiles"))
    orchestrion.advance(HARDENED, state)
    return state


def test_step_decides_and_applies() -> None:
    stepped, applied = State("test"), State("test")
    given = Input.session_start("ada")
    events = orchestrion.decide(HARDENED, applied, given, at_ms=5)
    assert applied == State("test")
    applied.apply(events)
    assert stepped.step(HARDENED, given, at_ms=5) == events
    assert stepped == applied
    assert (stepped.session, stepped.phase, stepped.now_ms) == ("ada", "Idle", 5)


def test_single_events_apply_as_batch() -> None:
    whole, single = State("test"), State("test")
    events = orchestrion.decide(HARDENED, whole, Input.session_start("ada"))
    whole.apply(events)
    single.apply(list(events))
    assert single == whole
    with pytest.raises(TypeError):
        single.apply(["session_ended"])  # type: ignore[list-item]


def test_refusal_preserves_state() -> None:
    state = session()
    before = state.copy()
    with pytest.raises(Refusal) as caught:
        state.step(HARDENED, Input.user_message("eve", "Let me in"))
    assert str(caught.value) == "wrong user: expected ada, found eve"
    assert (caught.value.message, caught.value.location) == (str(caught.value), None)
    assert isinstance(caught.value, orchestrion.Error)
    assert state == before


def test_time_never_goes_back() -> None:
    state = State("test")
    state.step(HARDENED, Input.session_start("ada"), at_ms=1_000)
    with pytest.raises(Refusal, match="^time went back: "):
        state.step(HARDENED, Input.session_end(), at_ms=999)
    state.step(HARDENED, Input.session_end())
    assert state.now_ms == 1_000


def test_copies_are_equal_until_changed() -> None:
    state = debate()
    others = [state.copy(), copy.copy(state), copy.deepcopy(state)]
    assert {state.copy(), *others} == {state}
    assert all(hash(other) == hash(state) for other in others)
    [call] = state.pending_calls
    others[0].step(HARDENED, Input.argument(call, "pro", 0.9))
    assert others[0] != state
    assert others[1] == state


def test_pending_call_names_module_and_operation() -> None:
    [call] = debate().pending_calls
    assert (call.module, call.operation, call.not_made) == ("analyst", {"argue": "analyst"}, None)
    assert call.expects_argument
    assert repr(call) == f"Call(id={call.id}, module='analyst')"


def test_constructors_equal_published_encoding() -> None:
    argument = {"argument": {"stance": "con", "confidence": 950_000}, "text": "no", "plan": None}
    plan = {"plan": [{"id": 1, "text": "order", "effect": "pure"}]}
    pairs = [
        (Input.session_start("ada"), {"session_start": {"user": "ada"}}),
        (Input.session_end(), "session_end"),
        (Input.user_message("ada", "Hi"), {"user_message": {"user": "ada", "text": "Hi"}}),
        (Input.argument(7, "con", 0.95, "no"), {"reply": {"call": 7, "report": {"argument": argument}}}),
        (Input.reply(4, plan), {"reply": {"call": 4, "report": plan}}),
        (Input.reply(15, "delivered"), {"reply": {"call": 15, "report": "delivered"}}),
        (Input.failure(3, "timeout"), {"call_failed": {"call": 3, "failure": "timeout"}}),
        (Input.step(), "step"),
        (Input.cancel(), "cancel"),
        (Input.tick(), "tick"),
        (Input.resume(), "resume"),
    ]
    for built, encoded in pairs:
        read = Input.from_dict(encoded)  # type: ignore[arg-type]
        assert built == read
        assert hash(built) == hash(read)
        assert Input.from_dict(built.to_dict()) == built
        assert built.to_dict() == encoded
        assert eval(repr(built)) == built
    assert len({built for built, _ in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Input.from_dict({"reply": {"call": 1}}), "missing field `report`"),
        (lambda: Input.from_dict("sleep"), "unknown variant `sleep`"),
        (lambda: Input.failure(1, "tired"), "unknown variant `tired`"),
        (lambda: Input.reply(1, {"argument": {}}), "missing field `argument`"),
        (lambda: Input.argument(1, "maybe", 0.5), "invalid stance: expected pro or con, found maybe"),
        (lambda: Input.argument(1, "pro", 1.5), "expected a number from 0 to 1.00, found 1.5"),
        (lambda: Input.argument(1, "pro", float("nan")), "expected a plain decimal"),
    ],
)
def test_invalid_input_names_its_defect(make, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert reason in caught.value.message
    assert str(caught.value) == f"{caught.value.message}; {caught.value.help}"


def test_confidence_is_rounded_to_millionths() -> None:
    encoded = Input.argument(1, "pro", 0.1 + 0.2).to_dict()
    assert encoded["reply"]["report"]["argument"]["argument"]["confidence"] == 300_000  # type: ignore[index]


def test_events_are_a_sequence() -> None:
    state = session()
    events = state.step(HARDENED, Input.user_message("ada", "Hi"))
    assert events.kinds == ["user_msg", "transitioned", "tool_call"]
    assert events.transition == "T01"
    assert [event.kind for event in events] == events.kinds
    assert (len(events), events[-1], events[0]) == (3, events[2], list(events)[0])
    for outside in (3, -4):
        with pytest.raises(IndexError):
            events[outside]
    assert events.to_list() == [event.to_dict() for event in events]
    assert events[2].fields == {"call": 1, "operation": "verify_identity"}
    assert len({*events, *events}) == 3


def test_event_without_fields_is_its_kind() -> None:
    [ended] = [e for e in session().step(HARDENED, Input.session_end()) if e.kind == "session_ended"]
    assert isinstance(ended, Event)
    assert (ended.to_dict(), ended.fields) == ("session_ended", {})


def test_drive_runs_request_to_end() -> None:
    def argue(call, _state):
        return ("con", 0.95) if call.module == "security" else ("pro", 0.9)

    for answer, outcome, phase in [
        (lambda *_: ("pro", 0.9), "outcome", "Idle"),
        (argue, "blocked", "Idle"),
    ]:
        state = session()
        events = list(orchestrion.drive(HARDENED, state, "Encrypt the profiles", answer))
        [concluded] = [event.fields for event in events if event.kind == "concluded"]
        assert concluded["conclusion"]["kind"] == outcome
        assert (state.phase, state.request, state.debate) == (phase, None, None)


def test_running_request_is_readable() -> None:
    state = debate()
    [call] = state.pending_calls
    state.step(HARDENED, Input.argument(call, "con", 0.25))
    assert state.request is not None and state.request["text"] == "Encrypt the profiles"
    assert state.debate is not None
    assert state.debate["latest"]["analyst"] == {"stance": "con", "confidence": 250_000}
    assert state.to_dict()["control"]["session"] == "ada"
