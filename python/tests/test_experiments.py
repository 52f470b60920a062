"""Experiments: results, parts, statistics and tables."""

import csv
import io
import json
import math
import random
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

import orchestrion
from conftest import ROOT, Command
from orchestrion import Experiment, ExperimentError, ExperimentResult, InputError, Policy, ReadError, Table

TEXT = """
description: Does a second pass pay?
seed: 3
runs: 300
grid:
  - {setting: bounds.passes, values: 1..2}
  - {setting: thresholds.redebate_below, values: 0.7..0.8:0.1}
metrics: [completed, wrong_proceed, passes]
plans: {acceptable: 0.6}
debaters:
  all: {false_alarm: 0.1, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}
"""
SMALL = "description: One policy.\nruns: 50\n"


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return Experiment.parse(TEXT, name="passes.yaml")


@pytest.fixture(scope="module")
def whole(experiment: Experiment) -> ExperimentResult:
    return experiment.run(rows=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, command: Command) -> Path:
    """The files of the command."""
    folder = tmp_path_factory.mktemp("experiments")
    (folder / "passes.yaml").write_text(TEXT)
    printed = command("explore", "run", "passes.yaml", "--out-dir", ".", "--format", "json", "--quiet", cwd=folder)
    assert printed.returncode == 0, printed.stderr
    (folder / "report.json").write_text(printed.stdout)
    return folder


def test_experiment_states_what_it_runs(experiment: Experiment) -> None:
    assert (experiment.name, experiment.description) == ("passes", "Does a second pass pay?")
    assert (experiment.seed, experiment.runs) == (3, 300)
    assert experiment.settings == ["bounds.passes", "thresholds.redebate_below"]
    assert experiment.metrics == ["completed", "wrong_proceed", "passes"]
    assert len(experiment.policies) == 4
    assert isinstance(experiment.policies[0], Policy) and experiment.policies[0]["bounds.passes"] == 1
    assert Experiment.parse(TEXT.replace("seed: 3", "seed: 4")).digest != experiment.digest


def test_file_and_text_are_equal(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "passes.yaml").write_text(TEXT)
    assert Experiment.read(tmp_path / "passes.yaml").digest == experiment.digest
    study = ROOT / "specs" / "experiments" / "redebate.yaml"
    assert Experiment.parse(study.read_text(), base_dir=study.parent).digest == Experiment.read(study).digest


def test_files_of_text_are_in_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(Policy().set("passes", 1, name="mine").to_yaml())
    text = SMALL + "policies: [mine.yaml]\n"
    assert Experiment.parse(text, base_dir=tmp_path).policies[0].name == "mine"
    with pytest.raises(ReadError):
        Experiment.parse(text, base_dir=tmp_path / "absent")


def test_result_has_bytes_of_command(whole: ExperimentResult, folder: Path) -> None:
    assert whole.to_json() == (folder / "passes.json").read_bytes()
    assert whole.to_csv() == (folder / "passes.csv").read_bytes()
    assert ExperimentResult.read(folder / "passes.json").to_json() == whole.to_json()


def test_report_equals_command(whole: ExperimentResult, folder: Path) -> None:
    assert whole.report() == json.loads((folder / "report.json").read_text())["report"]


def test_options_have_bytes_of_command(experiment: Experiment, folder: Path, command: Command) -> None:
    options = ("--runs", 90, "--seed", 5, "--shard", "2/3", "--no-rows", "--quiet", "--out-dir", "other")
    assert command("explore", "run", "passes.yaml", *options, cwd=folder).returncode == 0
    part = experiment.run(runs=90, seed=5, shard=(2, 3))
    assert part.to_json() == (folder / "other" / "passes.2-of-3.json").read_bytes()
    assert (part.runs, part.ranges, part.completed_runs, part.missing) == (90, [(30, 60)], 30, [(0, 30), (60, 90)])
    assert part.digest == Experiment.parse(TEXT.replace("seed: 3", "seed: 5").replace("300", "90")).digest


@pytest.mark.parametrize("count", [1, 3, 7])
def test_merged_parts_equal_whole(count: int, experiment: Experiment, whole: ExperimentResult) -> None:
    parts = [experiment.run(shard=(index, count), rows=True) for index in range(1, count + 1)]
    for seed in range(3):
        random.Random(seed).shuffle(parts)
        merged = ExperimentResult.merge(parts)
        assert (merged.to_json(), merged.to_csv()) == (whole.to_json(), whole.to_csv())
        assert (merged.digest, merged.rows_digest, merged.missing) == (experiment.digest, whole.rows_digest, [])
        assert merged.report() == whole.report()
        # As of a worker in another process.
        parsed = ExperimentResult.merge([ExperimentResult.parse(part.to_json()) for part in parts])
        assert parsed.to_json() == whole.to_json()
        assert parsed.metrics == experiment.metrics and parsed.report() == whole.report()


def test_merge_in_steps_keeps_rows(experiment: Experiment, whole: ExperimentResult) -> None:
    first, second, third = (experiment.run(shard=(index, 3), rows=True) for index in (1, 2, 3))
    outer = ExperimentResult.merge([third, first])
    assert outer.missing == second.ranges
    assert ExperimentResult.merge([outer, second]).to_csv() == whole.to_csv()
    assert whole.to_csv() != outer.to_csv()
    without = ExperimentResult.merge([outer, experiment.run(shard=(2, 3))])
    assert without.to_json() == whole.to_json()
    with pytest.raises(InputError, match="rows=True"):
        without.rows()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_result(threads: int, experiment: Experiment, whole: ExperimentResult) -> None:
    result = experiment.run(threads=threads, rows=True)
    assert (result.to_json(), result.to_csv()) == (whole.to_json(), whole.to_csv())


def test_run_keeps_no_rows_by_default(experiment: Experiment) -> None:
    result = experiment.run(runs=10)
    for call in (result.rows, result.to_csv):
        with pytest.raises(InputError, match="rows=True"):
            call()


BAD_RESULTS = {
    "absent.json": None,
    "empty.json": b"",
    "list.json": b"[]",
    "field.json": b'{"format": "orchestrion-experiment/1", "colour": "red"}',
    "binary.json": b"\xff\xfe",
}


def changed(result: ExperimentResult, **values: object) -> bytes:
    return json.dumps(json.loads(result.to_json()) | values).encode()


@pytest.mark.parametrize("name", [*BAD_RESULTS, "format.json", "range.json", "count.json"])
def test_bad_result_has_text_of_command(
    name: str, whole: ExperimentResult, folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    made = {
        "format.json": changed(whole, format="orchestrion-experiment/0\x1b"),
        "range.json": changed(whole, ranges=[[0, 200], [100, 300]]),
        "count.json": changed(whole, ranges=[[0, 299]]),
    }
    text = (BAD_RESULTS | made)[name]
    if text is not None:
        Path(name).write_bytes(text)
    printed = command("explore", "merge", name, cwd=folder)
    assert printed.returncode == 2
    with pytest.raises(ReadError) as caught:
        ExperimentResult.read(name)
    assert str(caught.value).rstrip() == printed.stderr.rstrip()
    if text is not None:
        with pytest.raises(ReadError) as parsed:
            ExperimentResult.parse(text, name=name)
        assert str(parsed.value) == str(caught.value)


def test_refused_merge_has_text_of_command(
    experiment: Experiment, whole: ExperimentResult, folder: Path, command: Command
) -> None:
    other = experiment.run(seed=99, shard=(2, 3))
    part = experiment.run(shard=(2, 3))
    for number, (name, refused) in enumerate([("other.json", other), ("part.json", part)]):
        (folder / name).write_bytes(refused.to_json())
        printed = command("explore", "merge", "passes.json", name, cwd=folder)
        assert printed.returncode == 2
        with pytest.raises(ExperimentError) as caught:
            ExperimentResult.merge([whole, refused])
        assert caught.value.help == "merge parts of one experiment, each once"
        expected = ["different experiment: expected", "found run 100 in both results"][number]
        assert expected in caught.value.message
        words = str(caught.value).replace("result 1", "passes.json").replace("result 2", name).split()
        # The names have other lengths, so lines break elsewhere.
        assert [word for word in words if word != "│"] == [word for word in printed.stderr.split() if word != "│"]


BAD_EXPERIMENTS = {
    "no-runs.yaml": "description: No runs.\n",
    "zero.yaml": "description: No run.\nruns: 0\n",
    "metric.yaml": SMALL + "metrics: [completd]\n",
    "grid.yaml": SMALL + "grid: [{setting: bounds.pases, values: 1..2}]\n",
    "policy.yaml": SMALL + "policies: [hardend]\n",
    "beta.yaml": SMALL + "debaters: {all: {confidence: {beta: {alpha: 0, beta: 2}}}}\n",
    "escape.yaml": 'description: "\\e[31mred"\nruns: many\n',
}


@pytest.mark.parametrize("name", BAD_EXPERIMENTS)
def test_bad_experiment_has_text_of_command(
    name: str, folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path(name).write_text(BAD_EXPERIMENTS[name])
    printed = command("explore", "run", name, cwd=folder)
    assert printed.returncode == 2
    for read in (lambda: Experiment.read(name), lambda: Experiment.parse(BAD_EXPERIMENTS[name], name=name)):
        with pytest.raises(ReadError) as caught:
            read()
        assert str(caught.value).rstrip() == printed.stderr.rstrip()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.run(runs=0), "runs: expected 1 to"),
        (lambda e: e.run(runs=10**10), "runs: expected 1 to"),
        (lambda e: e.run(shard=(0, 3)), "found (0, 3)"),
        (lambda e: e.run(shard=(4, 3)), "found (4, 3)"),
        (lambda e: e.run(runs=5).report(["completd"]), "unknown metric `completd`"),
        (lambda e: ExperimentResult.merge([]), "no result"),
    ],
)
def test_bad_argument_is_error(call: Callable[[Experiment], object], message: str, experiment: Experiment) -> None:
    with pytest.raises(InputError) as caught:
        call(experiment)
    assert message in caught.value.message and caught.value.help


def test_rows_are_those_of_csv(whole: ExperimentResult) -> None:
    [heading, *lines] = csv.reader(io.StringIO(whole.to_csv().decode()))
    columns = whole.rows().columns()
    assert list(columns) == heading and len(whole.rows()) == len(lines) == 4 * 300
    for name, *texts in zip(heading, *lines):
        column = columns[name]
        if name == "policy":
            assert column == texts
        else:
            kind = {"d": float, "q": int}[column.typecode]
            assert column.tolist() == [kind(text) for text in texts], name
    assert columns["thresholds.redebate_below"].typecode == "d" and columns["bounds.passes"].typecode == "q"


def test_summary_is_that_of_report(whole: ExperimentResult, experiment: Experiment) -> None:
    columns = whole.summary().columns()
    assert list(columns)[:4] == ["policy", *experiment.settings, "metric"]
    report = whole.report()
    rows = list(zip(*columns.values()))
    assert len(rows) == len(whole.summary()) == 4 * 3
    for position, row in enumerate(rows):
        policy, metric = report["policies"][position // 3], experiment.metrics[position % 3]
        assert row[3] == metric and policy["policy"].startswith(row[0])
        assert f"bounds.passes={row[1]}" in policy["policy"]
        found = policy["metrics"][metric]
        assert row[4:7] == tuple(found["mean"].values())
        if position < 3:
            assert all(math.isnan(value) for value in row[7:]) and len(row) == 11
        else:
            assert row[7:] == (*found["difference"]["mean"].values(), found["difference"]["adjusted_p"])
    assert list(whole.summary(["calls"]).columns()["metric"]) == ["calls"] * 4


def test_columns_of_settings_have_types() -> None:
    text = """
description: Settings of each type.
runs: 3
policies: [hardened, as-drawn]
grid:
  - {setting: rules.sticky_veto, values: "true, false"}
  - {setting: situation.argue_mode, values: "deep, fast"}
  - {setting: thresholds.veto_from, values: "0.9, 1"}
"""
    columns = Experiment.parse(text).run(rows=True).rows().columns()
    assert columns["policy"] == (["hardened"] * 8 + ["as-drawn"] * 8) * 3
    assert columns["rules.sticky_veto"] == ([True] * 4 + [False] * 4) * 6
    assert columns["situation.argue_mode"] == ["deep", "deep", "fast", "fast"] * 12
    assert columns["thresholds.veto_from"] == array("d", [0.9, 1.0] * 24)
    frame = Experiment.parse(text).run().summary(["calls"]).to_pandas()
    assert frame["rules.sticky_veto"].dtype == "bool" and list(frame["policy"]) == ["hardened"] * 8 + ["as-drawn"] * 8


def test_tables_become_data_frames(whole: ExperimentResult) -> None:
    pandas = pytest.importorskip("pandas")
    read = pandas.read_csv(io.BytesIO(whole.to_csv()))
    pandas.testing.assert_frame_equal(whole.rows().to_pandas(), read, check_dtype=False)
    frame = whole.summary().to_pandas()
    assert frame.dtypes["mean"] == "float64" and frame.dtypes["bounds.passes"] == "int64"
    assert frame["p"].isna().sum() == 3
    means = whole.rows().to_pandas().groupby(["policy", *whole.settings], sort=False)["passes"].mean()
    assert means.tolist() == pytest.approx(frame[frame["metric"] == "passes"]["mean"].tolist())


def test_tables_become_arrow(whole: ExperimentResult) -> None:
    arrow = pytest.importorskip("pyarrow")
    rows = whole.rows().to_arrow()
    assert rows.num_rows == 4 * 300 and rows.schema.field("run").type == arrow.int64()
    assert rows.to_pydict() == {name: list(column) for name, column in whole.rows().columns().items()}
    summary = whole.summary().to_arrow()
    assert summary.column("p").null_count == 3 and summary.schema.field("policy").type == arrow.string()
    assert summary.column("mean").to_pylist() == whole.summary().columns()["mean"].tolist()


def test_empty_table_keeps_types(experiment: Experiment) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    empty = experiment.run(runs=1, shard=(1, 2), rows=True)
    assert empty.completed_runs == 0 and len(empty.rows()) == 0
    full = experiment.run(runs=1, rows=True)
    assert (empty.rows().to_pandas().dtypes == full.rows().to_pandas().dtypes).all()
    assert empty.rows().to_arrow().schema == full.rows().to_arrow().schema


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_arrow")])
def test_absent_package_is_named(package: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=f"{method} needs the package {package}.*pip install {package}"):
        getattr(Table({"run": array("q", [1])}), method)()


LONG = """
import signal

import orchestrion

# A process that a script starts in the background ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
orchestrion.Experiment.parse("description: Long.\\nruns: 1000000000\\n").run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a process")
def test_interrupt_stops_runs() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode != 0 and "KeyboardInterrupt" in errors
