"""Gymnasium environments over the kernel. Needs `pip install gymnasium`.

- `orchestrion/Debate-v0` (`DebateEnv`): an action is the argument of the debater that is called.
- `orchestrion/Policy-v0` (`PolicyEnv`): an action is a value of a policy's setting, chosen before each request.

In both, a hidden truth says whether the plan of a request is good. Each argument comes with evidence about it. The reward is 1 if the
kernel lets a good plan run or stops a bad one, and -1 otherwise, less the cost of the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._drive import advance, drive
from ._native import Call, Event, Input, Policy, State

__all__ = ["DebateEnv", "PolicyEnv"]

Observation = NDArray[np.float32]

ROLES = ("analyst", "solution", "critic", "security", "optimizer")
"""The debaters, in the order of their rounds."""

_MILLION = 1_000_000

_PASS_ENDS = ("H04", "T13", "T14")
"""The transitions that evaluate the consensus of a pass."""


def _register_envs() -> None:
    for name, entry in [("Debate", "DebateEnv"), ("Policy", "PolicyEnv")]:
        env_id = f"orchestrion/{name}-v0"
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=f"orchestrion.gym:{entry}")


def _policy(policy: Policy | str) -> Policy:
    return policy if isinstance(policy, Policy) else Policy(policy)


def _open_session(policy: Policy) -> State:
    state = State("gym")
    state.step(policy, Input.session_start("ada"))
    return state


def _evidence(random: np.random.Generator, is_good: bool, strength: float) -> float:
    """Draws evidence from 0 to 1. It is above one half with a probability that grows with the strength."""
    drawn = random.beta(1.0 + strength, 1.0)
    return float(drawn if is_good else 1.0 - drawn)


def _ending(events: Sequence[Event]) -> dict[str, Any]:
    """Returns the decision and the conclusion of a request."""
    fields = {event.kind: event.fields for event in events if event.kind in ("decided", "concluded")}
    decision = fields["decided"]["decision"] if "decided" in fields else None
    conclusion = fields["concluded"]["conclusion"] if "concluded" in fields else None
    return {
        "label": decision["label"] if decision else "none",
        "outcome": conclusion["kind"] if conclusion else "none",
        "consensus": decision["score"] / _MILLION if decision else 0.0,
        "passes": sum(event.kind == "transitioned" and event.fields["row"] in _PASS_ENDS for event in events),
    }


def _reward(is_good: bool, ending: dict[str, Any]) -> float:
    return 1.0 if (ending["outcome"] == "outcome") == is_good else -1.0


class DebateEnv(gymnasium.Env[Observation, NDArray[np.int64]]):
    """One request. Each action is the argument of the debater that is called: its stance, and its confidence in steps of 1/20.

    The first part of an action is 0 for *con* and 1 for *pro*; the second part is the confidence times 20.
    `FEATURES` names the parts of an observation.
    """

    FEATURES = (
        *(f"{role} is called" for role in ROLES),
        "pass, as a part of the policy's bound",
        "evidence that the plan is good",
        *(f"latest argument of {role}: -1 is con, 1 is pro, 0 is none" for role in ROLES),
        "a veto was raised",
    )
    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        policy: Policy | str = "hardened",
        *,
        prior: float = 0.5,
        strength: float = 1.0,
        call_cost: float = 0.01,
        render_mode: str | None = None,
    ) -> None:
        self.policy = _policy(policy)
        self.prior, self.strength, self.call_cost = prior, strength, call_cost
        self.render_mode = render_mode
        self.action_space = spaces.MultiDiscrete([2, 21])
        low = np.array([0.0] * 7 + [-1.0] * 5 + [0.0], dtype=np.float32)
        self.observation_space = spaces.Box(low, np.ones(len(self.FEATURES), dtype=np.float32))
        self._start = _open_session(self.policy)
        self._passes_max = int(self.policy["bounds.passes"])
        self._state = self._start.copy()
        self._call: Call | None = None
        self._events: list[Event] = []
        self._is_good = False
        self._observed = np.zeros(len(self.FEATURES), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._is_good = bool(self.np_random.random() < self.prior)
        self._state = self._start.copy()
        self._events = list(self._state.step(self.policy, Input.user_message("ada", "Request")))
        self._call = advance(self.policy, self._state, self._events)
        self._observed = self._observe()
        return self._observed, {"phase": self._state.phase}

    def step(
        self, action: NDArray[np.int64]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._call is None:
            raise gymnasium.error.ResetNeeded("the request ended: expected a call of reset")
        stance = "pro" if action[0] else "con"
        argument = Input.argument(self._call, stance, int(action[1]) / 20)
        self._events.extend(self._state.step(self.policy, argument))
        self._call = advance(self.policy, self._state, self._events)
        reward, info = -self.call_cost, {"phase": self._state.phase}
        if self._call is None:
            info |= _ending(self._events) | {"plan_is_good": self._is_good}
            reward += _reward(self._is_good, info)
        else:
            self._observed = self._observe()
        return self._observed, reward, self._call is None, False, info

    def render(self) -> str | None:
        if self.render_mode is None:
            return None
        pairs = zip(self.FEATURES, self._observed, strict=True)
        return "\n".join([self._state.phase, *(f"  {name}: {value:.2f}" for name, value in pairs)])

    def _observe(self) -> Observation:
        debate = self._state.debate
        if self._call is None or debate is None:
            return self._observed
        called = [float(self._call.module == role) for role in ROLES]
        latest = [_signed(debate["latest"][role]) for role in ROLES]
        evidence = _evidence(self.np_random, self._is_good, self.strength)
        part = debate["pass"] / self._passes_max
        return np.array([*called, part, evidence, *latest, float(debate["vetoed"])], dtype=np.float32)


def _signed(argument: dict[str, Any] | None) -> float:
    if argument is None:
        return 0.0
    confidence = float(argument["confidence"]) / _MILLION
    return confidence if argument["stance"] == "pro" else -confidence


class PolicyEnv(gymnasium.Env[Observation, np.int64]):
    """Several requests. Each action is the index of the value that a setting of the policy has for the next request.

    The debaters are scripted: each argues by its evidence, and the strength of the evidence of a request is observed before it.
    `FEATURES` names the parts of an observation.
    """

    FEATURES = (
        "strength of the evidence of the next request",
        "part of the requests that remain",
        "consensus of the latest request",
        "passes of the latest request, as a part of the policy's bound",
    )
    metadata = {"render_modes": []}

    def __init__(
        self,
        policy: Policy | str = "hardened",
        *,
        setting: str = "thresholds.redebate_below",
        values: Sequence[Any] = (0.6, 0.7, 0.8, 0.9, 1.0),
        requests: int = 20,
        prior: float = 0.5,
        strength_max: float = 4.0,
        pass_cost: float = 0.1,
        render_mode: str | None = None,
    ) -> None:
        base = _policy(policy)
        self.policies = [base.set(setting, value) for value in values]
        self.requests, self.prior, self.strength_max = requests, prior, strength_max
        self.pass_cost, self.render_mode = pass_cost, render_mode
        self.action_space = spaces.Discrete(len(self.policies))
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.FEATURES),), dtype=np.float32)
        self._start = _open_session(base)
        self._remaining = 0
        self._observed = np.zeros(len(self.FEATURES), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._remaining = self.requests
        self._observed = self._observe(0.0, 0.0)
        return self._observed, {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._remaining == 0:
            raise gymnasium.error.ResetNeeded("no request remains: expected a call of reset")
        policy = self.policies[int(action)]
        is_good = bool(self.np_random.random() < self.prior)
        strength = float(self._observed[0]) * self.strength_max

        def argue(_call: Call, _state: State) -> tuple[str, float]:
            evidence = _evidence(self.np_random, is_good, strength)
            return ("pro", evidence) if evidence >= 0.5 else ("con", 1.0 - evidence)

        ending = _ending(list(drive(policy, self._start.copy(), "Request", argue)))
        self._remaining -= 1
        passes = ending["passes"]
        reward = _reward(is_good, ending) - self.pass_cost * passes
        self._observed = self._observe(ending["consensus"], min(1.0, passes / int(policy["bounds.passes"])))
        info = ending | {"plan_is_good": is_good, "policy": policy.name}
        return self._observed, reward, self._remaining == 0, False, info

    def _observe(self, consensus: float, passes: float) -> Observation:
        remaining = self._remaining / self.requests
        return np.array([self.np_random.random(), remaining, consensus, passes], dtype=np.float32)


_register_envs()
