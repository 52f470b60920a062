"""Other threads run while Rust works."""

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import orchestrion
from conftest import SCENARIOS


def long_scenario(folder: Path) -> Path:
    """Returns a scenario with many requests."""
    text = (SCENARIOS / "happy.yaml").read_text()
    many = "requests:\n" + "".join(f"  - text: Encrypt table {n}\n" for n in range(80)) + "modules:"
    path = folder / "long.yaml"
    path.write_text(text[: text.index("requests:")] + many + text[text.index("modules:") + len("modules:") :])
    return path


def large_problem() -> dict[str, object]:
    """Returns a problem whose search takes a while."""
    draw = random.Random(7)
    items = [
        {"id": n, "utility": cost + draw.randint(0, 1_000), "cost": cost, "deps": [draw.randrange(n)] if n > 20 else []}
        for n in range(1_000)
        for cost in [draw.randint(10_000, 20_000)]
    ]
    return {"budget": sum(draw.choice((0, 15_000)) for _ in items), "items": items}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], object]]:
    scenario = long_scenario(tmp_path_factory.mktemp("threads"))
    trace, problem = orchestrion.run(scenario).trace, large_problem()
    experiment = orchestrion.Experiment.parse("description: Long.\nruns: 20000\n")
    return {
        "run": lambda: orchestrion.run(scenario),
        "replay": lambda: orchestrion.replay(trace),
        "check": lambda: orchestrion.check("hardened", "tiny", ["debate"], jobs=1),
        "solve": lambda: orchestrion.context.solve(problem),
        "experiment": lambda: experiment.run(threads=1, rows=True),
    }


@pytest.mark.parametrize("name", ["run", "replay", "check", "solve", "experiment"])
def test_second_thread_runs_during(name: str, work: dict[str, Callable[[], object]]) -> None:
    started, ended = threading.Event(), threading.Event()
    error: list[BaseException] = []

    def worker() -> None:
        started.set()
        try:
            work[name]()
        except BaseException as raised:
            error.append(raised)
        ended.set()

    thread = threading.Thread(target=worker)
    begin = time.perf_counter()
    thread.start()
    started.wait()
    turns = 0
    while not ended.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    duration = time.perf_counter() - begin
    assert not error, error
    # A call that keeps the lock leaves one or two turns, however long it takes.
    assert duration > 0.05, "the work is too short to prove anything"
    assert turns >= 10, f"{turns} turns of the second thread in {duration:.3f} s"
