"""Errors have the text that the command prints."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import orchestrion
from conftest import SCENARIOS, Command
from orchestrion import Error, Policy, PolicyError, ProblemError, ReadError, RunError, TraceError

HAPPY = (SCENARIOS / "happy.yaml").read_text()
FILES = {
    "empty.yaml": "",
    "unknown.yaml": "name: mine\nbounds: {pases: 3}\n",
    "contradiction.yaml": "name: mine\nthresholds: {proceed_from: 0.9}\n",
    "cyclic.yaml": "name: mine\nextends: cyclic.yaml\n",
    "escape.yaml": 'name: "\\e[31mred"\nbounds: {passes: \x1b[31m}\n',
    "no-modules.yaml": HAPPY.split("modules:")[0],
    "typo.yaml": HAPPY.replace("analyst: {pro", "analist: {pro"),
    "range.yaml": HAPPY.replace("confidence: 0.95", "confidence: 1.95"),
    "no-policy.yaml": HAPPY.replace("user: ada", "user: ada\npolicy: hardend"),
    "problem.json": json.dumps({"budget": 10, "items": [{"id": "a", "utility": 1, "cost": 1, "deps": ["b"]}]}),
    "syntax.json": '{"budget": 10, "items": [}',
    "trace.ndjson": (SCENARIOS / "happy.ndjson").read_text().replace("happy", "sad", 1),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


CASES: list[tuple[type[Error], tuple[str, ...], Callable[[], object]]] = [
    *(
        (ReadError, ("check", "--policy", name), lambda name=name: Policy(name))
        for name in ("hardend", "empty.yaml", "unknown.yaml", "contradiction.yaml", "cyclic.yaml", "escape.yaml")
    ),
    *(
        (kind, ("run", name), lambda name=name: orchestrion.run(name))
        for kind, name in [
            (ReadError, "typo.yaml"),
            (ReadError, "range.yaml"),
            (ReadError, "no-policy.yaml"),
            (RunError, "no-modules.yaml"),
        ]
    ),
    *(
        (ProblemError, ("context", "solve", name), lambda name=name: orchestrion.context.solve(name))
        for name in ("problem.json", "syntax.json", "absent.json")
    ),
    (TraceError, ("replay", "trace.ndjson", "--quiet"), lambda: orchestrion.replay("trace.ndjson")),
    (ReadError, ("check", "--claims", "unknown.yaml"), lambda: orchestrion.check("hardened", claims="unknown.yaml")),
]


@pytest.mark.parametrize(("kind", "arguments", "call"), CASES, ids=lambda case: " ".join(case) if isinstance(case, tuple) else "")
def test_error_text_equals_command(
    kind: type[Error],
    arguments: tuple[str, ...],
    call: Callable[[], object],
    command: Command,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    printed = command(*arguments, cwd=folder)
    assert printed.returncode in (1, 2), printed
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value).rstrip() == printed.stderr.rstrip()


def test_error_has_place_and_help(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(ReadError) as caught:
        Policy.load("unknown.yaml")
    error = caught.value
    assert error.location == "unknown.yaml:2:10"
    assert "pases" in error.message and "\n" not in error.message
    assert error.help is not None and "passes" in error.help


def test_setting_error_equals_sweep(command: Command) -> None:
    printed = command("check", "--sweep", "pases=1")
    with pytest.raises(PolicyError) as caught:
        Policy().set("pases", 1)
    assert str(caught.value).replace("unknown", "--sweep: unknown", 1).rstrip() == printed.stderr.rstrip()
