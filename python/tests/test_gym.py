"""The Gymnasium environments."""

import subprocess
import sys

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from orchestrion.gym import DebateEnv, PolicyEnv  # noqa: E402

IDS = ["orchestrion/Debate-v0", "orchestrion/Policy-v0"]


def rollout(env, seed: int, actions=None) -> list[tuple]:
    """Plays an episode, at random unless there are actions, and returns what it shows."""
    observed, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    shown, ended = [tuple(observed)], False
    while not ended:
        action = actions(observed) if actions else env.action_space.sample()
        observed, reward, ended, truncated, info = env.step(action)
        assert not truncated
        shown.append((tuple(observed), reward, ended, str(sorted(info.items()))))
    return shown


@pytest.mark.parametrize("env_id", IDS)
def test_environment_passes_checker(env_id: str) -> None:
    check_env(gymnasium.make(env_id).unwrapped, skip_render_check=False)


@pytest.mark.parametrize("env_id", IDS)
def test_seed_determines_episode(env_id: str) -> None:
    env = gymnasium.make(env_id)
    episodes = [rollout(env, seed) for seed in range(5)]
    assert episodes == [rollout(gymnasium.make(env_id), seed) for seed in range(5)]
    assert len({str(episode) for episode in episodes}) == 5


@pytest.mark.parametrize("env_id", IDS)
def test_module_of_id_registers_environment(env_id: str) -> None:
    """In a process that has not imported the module."""
    program = f"import gymnasium; print(gymnasium.make('orchestrion.gym:{env_id}').spec.id)"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == env_id


def test_roles_argue_in_order() -> None:
    env = DebateEnv("hardened")
    observed, _ = env.reset(seed=1)
    called = []
    ended = False
    while not ended:
        called.append(int(np.argmax(observed[:5])))
        observed, _, ended, _, info = env.step(np.array([1, 18]))
    assert called == [0, 1, 2, 3, 4]
    assert (info["outcome"], info["label"], info["passes"]) == ("outcome", "consensus_reached", 1)


def test_veto_blocks_plan_and_rewards_truth() -> None:
    for seed in range(10):
        env = DebateEnv("hardened", call_cost=0.0)
        observed, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            is_security = bool(observed[3])
            observed, reward, ended, _, info = env.step(np.array([0, 19] if is_security else [1, 18]))
        assert (info["outcome"], info["label"], info["passes"]) == ("blocked", "vetoed", 1)
        assert reward == (-1.0 if info["plan_is_good"] else 1.0)


def test_low_consensus_debates_again() -> None:
    env = DebateEnv("hardened")
    env.reset(seed=3)
    ended, steps = False, 0
    while not ended:
        # Stances alternate, so that the consensus stays below the threshold.
        _, _, ended, _, info = env.step(np.array([steps % 2, 10]))
        steps += 1
    assert info["passes"] == 3
    # The Analyst argues in the first pass only.
    assert steps == 5 + 4 + 4


def test_evidence_informs_about_truth() -> None:
    def by_evidence(observed):
        return np.array([int(observed[6] >= 0.5), 18])

    def mean_reward(actions) -> float:
        env = DebateEnv("hardened", strength=3.0)
        return float(np.mean([sum(step[1] for step in rollout(env, seed, actions)[1:]) for seed in range(200)]))

    assert mean_reward(by_evidence) > mean_reward(lambda _: np.array([1, 18])) + 0.3


def test_ended_episode_needs_reset() -> None:
    for env in (DebateEnv(), PolicyEnv(requests=1)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(env.action_space.sample())
        rollout(env, 1)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(env.action_space.sample())


def test_render_names_features() -> None:
    env = DebateEnv(render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert text is not None and text.startswith("Round_1_Analyst")
    assert all(feature in text for feature in DebateEnv.FEATURES)


def test_action_sets_policy_of_request() -> None:
    env = PolicyEnv(setting="bounds.passes", values=[1, 3], requests=30, strength_max=0.1)
    passes = {}
    for action in (0, 1):
        env.reset(seed=5)
        infos = [env.step(np.int64(action))[4] for _ in range(30)]
        assert {info["policy"] for info in infos} == {env.policies[action].name}
        passes[action] = max(info["passes"] for info in infos)
    assert passes == {0: 1, 1: 3}
