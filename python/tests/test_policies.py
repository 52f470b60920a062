"""Policies and their settings."""

import pickle
from pathlib import Path

import pytest

from conftest import ROOT
from orchestrion import InputError, Policy, PolicyError, ReadError

FILES = sorted((ROOT / "specs" / "policies").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_policy_file_round_trips(path: Path) -> None:
    policy = Policy.load(path)
    assert Policy(path) == policy
    again = Policy.parse(policy.to_yaml())
    assert again == policy
    assert (hash(again), again.settings()) == (hash(policy), policy.settings())
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy.set_all(policy.settings(), name=policy.name) == policy


def test_default_policy_is_hardened() -> None:
    assert Policy() == Policy("hardened") == Policy.load(ROOT / "specs" / "policies" / "hardened.yaml")
    assert Policy() != Policy("as-drawn")
    assert repr(Policy()) == "Policy('hardened')"


def test_set_returns_another_policy() -> None:
    base = Policy()
    changed = base.set("passes", 1)
    assert (base["bounds.passes"], changed["bounds.passes"], changed["max_passes"]) == (3, 1, 1)
    assert changed.name == "hardened with bounds.passes=1"
    assert base.differences(changed) == {"name": (base.name, changed.name), "bounds.passes": (3, 1)}
    assert base.set("passes", 1, name="short").name == "short"


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("thresholds.proceed_from", 0.1 + 0.2, 0.3),
        ("thresholds.proceed_from", 0, 0),
        ("bounds.repairs", "unbounded", "unbounded"),
        ("elo", "standard", "standard"),
        ("rules.cancel", False, False),
    ],
)
def test_value_of_setting_is_read_back(path: str, value: object, read: object) -> None:
    assert Policy().set(path, value)[path] == read


def test_numbers_of_numpy_are_values() -> None:
    numpy = pytest.importorskip("numpy")
    assert Policy().set("passes", numpy.int64(2))["passes"] == 2
    for number in numpy.arange(0.6, 0.8, 0.05):
        assert Policy().set("proceed_from", number)["proceed_from"] == pytest.approx(number, abs=1e-6)


def test_contradiction_names_both_settings() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy().set("proceed_from", 0.9)
    assert "thresholds.proceed_from" in str(caught.value)
    assert caught.value.help == "change thresholds.proceed_from or thresholds.redebate_below"
    raised = Policy().set_all({"proceed_from": 0.9, "redebate_below": 0.95})
    assert raised["redebate_below"] == 0.95


def test_unknown_setting_suggests_name() -> None:
    for use in (lambda: Policy().set("pases", 1), lambda: Policy()["pases"]):
        with pytest.raises(PolicyError) as caught:
            use()
        assert caught.value.message == "unknown setting `pases`"
        assert caught.value.help is not None and "did you mean `passes`?" in caught.value.help


def test_invalid_value_is_refused() -> None:
    with pytest.raises(PolicyError, match="passes"):
        Policy().set("passes", "many")
    for value in (float("inf"), "1\nbounds: {passes: 2}"):
        with pytest.raises(InputError, match=r"invalid value of bounds\.passes"):
            Policy().set("passes", value)


def test_unknown_policy_is_read_error() -> None:
    with pytest.raises(ReadError) as caught:
        Policy("hardend")
    assert caught.value.help is not None and caught.value.help.startswith("did you mean `hardened`?")
