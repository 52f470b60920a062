"""What the tests share: the files of the project, and its command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "specs" / "scenarios"

Command = Callable[..., subprocess.CompletedProcess[str]]


def golden_scenarios() -> list[Path]:
    """Returns the scenarios that have a golden trace."""
    return sorted(path for path in SCENARIOS.glob("*.yaml") if path.with_suffix(".ndjson").is_file())


def _program() -> Path | None:
    if named := os.environ.get("ORCHESTRION_COMMAND"):
        return Path(named).resolve()
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    programs = [target / profile / "orchestrion" for profile in ("debug", "release")]
    built = [program for program in programs if program.is_file()]
    return max(built, key=lambda program: program.stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the command of this project, with the width and the alphabet that the package uses."""
    program = _program()
    if program is None:
        pytest.skip("the command is not built: cargo build, or set ORCHESTRION_COMMAND")
    environment = os.environ | {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}

    def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        words = [str(program), *map(str, arguments)]
        return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)

    return run
