"""Runs an experiment in parts on Ray, kills a worker half way, and compares with one whole run. `.ci/ray` calls it.

Ray repeats the part of the killed worker in another process. The merged result has the bytes of the whole run.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import ray

import orchestrion
from orchestrion import Experiment, ExperimentResult

EXPERIMENT = Path(__file__).resolve().parents[2] / "specs" / "experiments" / "redebate.yaml"
PARTS = 6
KILLED = 3
"""The part whose worker is killed."""
RUNS = int(os.environ.get("RAY_RUNS", "6000"))


@ray.remote(num_cpus=1, max_retries=2)
def run_part(text: str, part: int, log: str) -> bytes:
    """Runs one part, and records the process in which it starts and ends."""

    def record(word: str) -> None:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{word} {part} {os.getpid()}\n")

    record("start")
    result = Experiment.parse(text, name=EXPERIMENT.name).run(runs=RUNS, shard=(part, PARTS), threads=1)
    record("end")
    return result.to_json()


def processes(log: Path, word: str, part: int) -> list[int]:
    """Returns the processes in which a part started or ended."""
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [int(pid) for found, number, pid in lines if (found, number) == (word, str(part))]


def kill_worker(log: Path) -> int:
    """Kills the worker of a part while it runs."""
    deadline = time.monotonic() + 300
    while not (started := processes(log, "start", KILLED)):
        assert time.monotonic() < deadline, f"part {KILLED} did not start"
        time.sleep(0.01)
    time.sleep(0.1)
    assert not processes(log, "end", KILLED), "the part ended before its worker was killed; set a larger RAY_RUNS"
    os.kill(started[0], signal.SIGKILL)
    return started[0]


def main() -> int:
    text = EXPERIMENT.read_text(encoding="utf-8")
    experiment = Experiment.parse(text, name=EXPERIMENT.name)
    whole = experiment.run(runs=RUNS, threads=1)
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    print(f"Ray {ray.__version__}, orchestrion {orchestrion.__version__}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.touch()
        parts = [run_part.remote(text, part, str(log)) for part in range(1, PARTS + 1)]
        killed = kill_worker(log)
        # In the order in which the parts end.
        results: list[ExperimentResult] = []
        while parts:
            ended, parts = ray.wait(parts, timeout=600)
            assert ended, "no part ended within ten minutes"
            results += [ExperimentResult.parse(json) for json in ray.get(ended)]
        starts = {part: processes(log, "start", part) for part in range(1, PARTS + 1)}
        ends = {part: processes(log, "end", part) for part in range(1, PARTS + 1)}
    ray.shutdown()

    for part in starts:
        print(f"part {part}: started in {starts[part]}, ended in {ends[part]}")
    assert starts[KILLED][0] == killed and killed not in ends[KILLED], "the worker was not killed in its part"
    assert len(starts[KILLED]) >= 2 and len(ends[KILLED]) == 1, "the part of the killed worker was not repeated"
    assert len({pid for pids in ends.values() for pid in pids}) >= 2, "expected two workers"
    print(f"worker {killed} was killed in part {KILLED}; process {ends[KILLED][0]} repeated it")

    print(f"order of the parts: {[result.ranges[0] for result in results]}")
    merged = ExperimentResult.merge(results)
    assert (merged.digest, merged.rows_digest) == (whole.digest, whole.rows_digest)
    assert merged.to_json() == whole.to_json(), "the merged result differs from the whole run"
    print(f"equal: {len(whole.to_json())} bytes, {merged.completed_runs} runs, digest of the rows {merged.rows_digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
