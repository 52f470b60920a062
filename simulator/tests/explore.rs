//! `explore run` and `explore merge`: files, parts, interrupted runs, and refusals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion::cli::report_schemas;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const EXPERIMENT: &str = "
description: A test.
seed: 3
runs: 3000
grid:
- {setting: bounds.passes, values: 1..2}
- {setting: thresholds.redebate_below, values: '0.7, 0.8'}
plans: {acceptable: 0.7}
debaters:
  all: {false_alarm: 0.1, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}
executor: {success: 0.9}
";

fn explore(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .current_dir(folder)
        .env("COLUMNS", "100")
        .arg("explore")
        .args(arguments)
        .output()
        .unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = explore(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refuse(folder: &Path, arguments: &[&str], expected: &str) {
    let output = explore(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(error.contains(expected), "{arguments:?}: {error}");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("test.yaml"), EXPERIMENT).unwrap();
    folder
}

#[test]
fn statistics_are_printed_with_intervals() {
    let folder = folder();
    let text = succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
    let json = succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::experiment()).unwrap();
    assert!(
        schema.is_valid(&report),
        "{:?}",
        schema.iter_errors(&report).next().map(|error| error.to_string())
    );
}

#[test]
fn merged_parts_equal_one_run_and_its_rows() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "whole", "--jobs", "1"]);
    for count in [3, 7] {
        let mut results = Vec::new();
        let mut rows = String::new();
        for index in (1..=count).rev() {
            let (part, out) = (format!("{index}/{count}"), format!("part{index}of{count}"));
            succeed(folder.path(), &["run", "test.yaml", "--shard", &part, "--out-dir", &out, "--quiet"]);
            results.push(format!("{out}/test.{index}-of-{count}.json"));
            let part = read(&format!("{out}/test.{index}-of-{count}.csv"));
            let (_, body) = part.split_once('\n').unwrap();
            rows.insert_str(0, body);
        }
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        succeed(folder.path(), &[&["merge", "--result", "merged.json"], &results[..]].concat());
        assert_eq!(read("merged.json"), read("whole/test.json"));
        assert_eq!(rows, read("whole/test.csv").split_once('\n').unwrap().1);
        let again = [&["merge", results[0]], &results[..]].concat();
        refuse(folder.path(), &again, "repeated runs");
    }
    let incomplete =
        explore(folder.path(), &["merge", "part1of3/test.1-of-3.json", "part3of3/test.3-of-3.json"]);
    assert_eq!(incomplete.status.code(), Some(3));
    // The incomplete result has the runs of the third part.
    let kept = read(".orchestrion/test.json");
    let first = ["merge", "part1of3/test.1-of-3.json"];
    refuse(folder.path(), &first, "result is not replaced: expected at most the 1000");
    assert_eq!(read(".orchestrion/test.json"), kept);
    let elsewhere = explore(folder.path(), &[&first[..], &["--result", "first.json"]].concat());
    assert_eq!(elsewhere.status.code(), Some(3));
}

/// Returns the report that a command prints as JSON.
fn report(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let json = succeed(folder, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str::<serde_json::Value>(&json).unwrap()["report"].take()
}

#[test]
fn merge_reports_metrics_of_run() {
    let folder = folder();
    let write = |metrics: &str| {
        fs::write(folder.path().join("test.yaml"), format!("{EXPERIMENT}metrics: [{metrics}]\n")).unwrap();
    };
    write("vetoed, wrong_proceed");
    let run = ["run", "test.yaml", "--runs", "300", "--out-dir", "out"];
    let whole = report(folder.path(), &run);
    assert_eq!(report(folder.path(), &["merge", "out/test.json"]), whole);
    succeed(folder.path(), &["report", "out/test.json"]);
    let page = fs::read_to_string(folder.path().join("out/test.html")).unwrap();
    assert!(page.contains("<th>vetoed</th>") && !page.contains("<th>calls</th>"));

    // A result without metrics, as of an earlier version, has all of them.
    let path = folder.path().join("out/test.json");
    let mut result: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    result.as_object_mut().unwrap().remove("metrics").unwrap();
    fs::write(folder.path().join("all.json"), result.to_string()).unwrap();
    let all = report(folder.path(), &["merge", "all.json", "--result", "merged.json"]);
    assert_eq!(
        all["policies"][0]["metrics"].as_object().unwrap().len(),
        orchestrion_experiment::METRICS.len()
    );

    // Parts with other metrics merge after one of them continues, without a run, under those of the file.
    let part = |index: &'static str| [&run[..], &["--shard", index]].concat();
    succeed(folder.path(), &part("1/2"));
    write("calls");
    succeed(folder.path(), &part("2/2"));
    let merge = ["merge", "out/test.1-of-2.json", "out/test.2-of-2.json", "--result", "both.json"];
    refuse(folder.path(), &merge, "different metrics of the report");
    succeed(folder.path(), &[&part("1/2")[..], &["--resume"]].concat());
    let both = report(folder.path(), &merge);
    assert_eq!(both["policies"][3]["metrics"].as_object().unwrap().keys().collect::<Vec<_>>(), ["calls"]);
}

#[test]
fn interrupted_run_continues_to_same_result() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "whole"]);
    // An interruption leaves the result of the first runs, and rows beyond them, the last one torn. The part 1/3 is such a result.
    succeed(folder.path(), &["run", "test.yaml", "--shard", "1/3", "--out-dir", "out"]);
    fs::rename(path("out/test.1-of-3.json"), path("out/test.json")).unwrap();
    let mut rows = fs::read_to_string(path("out/test.1-of-3.csv")).unwrap();
    rows.push_str("1000,hardened,1,0.7,1,0");
    fs::write(path("out/test.csv"), rows).unwrap();
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out", "--resume"]);
    for name in ["test.json", "test.csv"] {
        assert_eq!(
            fs::read(path(&format!("out/{name}"))).unwrap(),
            fs::read(path(&format!("whole/{name}"))).unwrap()
        );
    }
    fs::write(path("out/test.csv"), "run,policy\n").unwrap();
    refuse(
        folder.path(),
        &["run", "test.yaml", "--out-dir", "out", "--resume"],
        "expected the heading of this experiment",
    );
    refuse(
        folder.path(),
        &["run", "test.yaml", "--out-dir", "whole", "--resume", "--seed", "4"],
        "result of another experiment",
    );
}

#[test]
fn foreign_files_are_not_replaced() {
    let folder = folder();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/test.json"), "{\"mine\": 1}").unwrap();
    refuse(folder.path(), &["run", "test.yaml", "--out-dir", "out"], "the result of an experiment");
    fs::remove_file(folder.path().join("out/test.json")).unwrap();
    fs::write(folder.path().join("out/test.csv"), "my,data\n").unwrap();
    refuse(folder.path(), &["run", "test.yaml", "--out-dir", "out"], "expected the rows of an experiment");
    assert_eq!(fs::read_to_string(folder.path().join("out/test.csv")).unwrap(), "my,data\n");
    refuse(folder.path(), &["run", "test.yaml", "--shard", "4/3"], "expected a part such as 2/3");
    refuse(folder.path(), &["merge", "test.yaml"], "expected the result of an experiment");
}

#[test]
fn changed_grid_replaces_its_rows() {
    let folder = folder();
    let run = ["run", "test.yaml", "--runs", "5", "--out-dir", "out"];
    succeed(folder.path(), &run);
    let rows = || fs::read_to_string(folder.path().join("out/test.csv")).unwrap();
    let before = rows();
    let grid = EXPERIMENT.replace("bounds.passes, values: 1..2", "bounds.repairs, values: 0..2");
    fs::write(folder.path().join("test.yaml"), grid).unwrap();
    let without = explore(folder.path(), &[&run[..], &["--no-rows"]].concat());
    let note = String::from_utf8_lossy(&without.stderr);
    assert!(note.contains("note: out/test.csv: this run wrote no rows"), "{note}");
    assert_eq!((without.status.code(), rows()), (Some(0), before));
    succeed(folder.path(), &run);
    assert!(rows().starts_with("run,policy,bounds.repairs,thresholds.redebate_below,"), "{}", rows());
    assert_eq!(rows().lines().count(), 1 + 5 * 6);
}

#[test]
fn single_run_has_no_intervals() {
    let folder = folder();
    let run = ["run", "test.yaml", "--runs", "1", "--out-dir", "out"];
    let text = succeed(folder.path(), &run);
    assert!(text.contains("(no interval)") && !text.contains("inf"), "{text}");
    assert!(text.contains("equal to the baseline"), "{text}");
    let json = succeed(folder.path(), &[&run[..], &["--format", "json"]].concat());
    let printed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(printed["report"]["policies"][0]["metrics"]["calls"]["mean"]["low"].is_null());
    let schema = jsonschema::validator_for(&report_schemas::experiment()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&printed).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    succeed(folder.path(), &["report", "out/test.json", "--svg", "figures"]);
    let page = fs::read_to_string(folder.path().join("out/test.html")).unwrap();
    assert!(page.contains("(no interval)") && !page.contains("[-inf"));
    for entry in fs::read_dir(folder.path().join("figures")).unwrap() {
        let svg = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

/// Over twelve runs the differences of `completed` cancel in one policy: its mean is that of the baseline, its runs are not.
#[test]
fn equal_mean_of_other_runs_has_interval() {
    let folder = folder();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let study = root.join("specs/experiments/redebate.yaml");
    let run =
        ["run", study.to_str().unwrap(), "--runs", "12", "--seed", "1", "--no-rows", "--out-dir", "out"];
    let printed = report(folder.path(), &run);
    let policies = printed["policies"].as_array().unwrap();
    let differences = policies.iter().flat_map(|policy| policy["metrics"].as_object().unwrap().values());
    let is_mixed = |metric: &&serde_json::Value| {
        let mean = &metric["difference"]["mean"];
        mean["mean"] == 0.0 && mean["low"] != 0.0
    };
    assert!(differences.filter(is_mixed).count() > 0);
    let text = succeed(folder.path(), &run);
    assert!(text.contains("0.0000 [-0."), "{text}");
}

/// A name of 19 characters is followed by a space, and no line is longer than the terminal.
#[test]
fn sensitivities_are_separate_columns() {
    let folder = folder();
    let text = "
description: A test.
runs: 4
facts: 20
contexts: true
rules: true
metrics: [greedy_loss_utility]
grid:
- {setting: contexts.budget_tokens, values: '4300,4600'}
- {setting: bounds.passes, values: 1..2}
";
    fs::write(folder.path().join("long.yaml"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .current_dir(folder.path())
        .env("COLUMNS", "60")
        .args(["explore", "run", "long.yaml"])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("  greedy_loss_utility contexts.budget_tokens "), "{printed}");
    let heading: Vec<&str> = printed.lines().skip_while(|line| !line.starts_with("share")).take(2).collect();
    assert!(heading.len() == 2 && heading.iter().all(|line| line.len() <= 60), "{printed}");
}

#[test]
fn parts_of_other_experiments_are_not_merged() {
    let folder = folder();
    succeed(folder.path(), &["run", "test.yaml", "--shard", "1/2", "--out-dir", "out"]);
    fs::write(folder.path().join("test.yaml"), EXPERIMENT.replace("seed: 3", "seed: 4")).unwrap();
    succeed(folder.path(), &["run", "test.yaml", "--shard", "2/2", "--out-dir", "out"]);
    refuse(folder.path(), &["merge", "out/test.1-of-2.json", "out/test.2-of-2.json"], "different experiment");
}

/// Counts are added by position, so an edited part with other labels is refused.
#[test]
fn relabelled_parts_are_not_merged() {
    let folder = folder();
    for part in ["1/2", "2/2"] {
        succeed(folder.path(), &["run", "test.yaml", "--shard", part, "--out-dir", "out"]);
    }
    let text = fs::read_to_string(folder.path().join("out/test.2-of-2.json")).unwrap();
    type Change = fn(&mut serde_json::Value);
    let changes: [Change; 4] = [
        |result| result["experiment"] = "other".into(),
        |result| result["policies"][1]["values"][0] = "7".into(),
        |result| result["policies"][1]["policy"] = "as-drawn".into(),
        |result| {
            let last = result["policies"].as_array_mut().unwrap().pop().unwrap();
            result["policies"].as_array_mut().unwrap().insert(1, last);
        },
    ];
    for change in changes {
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut result);
        fs::write(folder.path().join("changed.json"), result.to_string()).unwrap();
        refuse(folder.path(), &["merge", "out/test.1-of-2.json", "changed.json"], "different names");
    }
}

/// A spreadsheet calculates a field of the rows that starts so.
/// A name that is a formula for a spreadsheet, or that a reader of the result would refuse.
#[test]
fn unusable_names_of_policies_are_refused() {
    let folder = folder();
    let experiment = EXPERIMENT.replace("grid:", "policies: [odd.yaml]\ngrid:");
    fs::write(folder.path().join("test.yaml"), experiment).unwrap();
    for name in ["=1+1", "''", r#""a\nb""#] {
        fs::write(folder.path().join("odd.yaml"), format!("extends: hardened\nname: {name}\n")).unwrap();
        refuse(
            folder.path(),
            &["run", "test.yaml"],
            "invalid name of a policy: expected a name without control",
        );
    }
}

/// A result that this program did not write: each change is refused, without a panic.
#[test]
fn inconsistent_results_are_refused() {
    let folder = folder();
    succeed(folder.path(), &["run", "test.yaml", "--runs", "10", "--out-dir", "out"]);
    let text = fs::read_to_string(folder.path().join("out/test.json")).unwrap();
    type Change = fn(&mut serde_json::Value);
    let changes: [(&str, Change); 8] = [
        ("reversed range", |result| result["ranges"] = serde_json::json!([[10, 0]])),
        ("huge ranges", |result| result["ranges"] = serde_json::json!([[0, u64::MAX], [1, u64::MAX]])),
        ("too many runs", |result| result["runs"] = u64::MAX.into()),
        ("sum", |result| result["policies"][0]["metrics"]["calls"]["moments"]["sum"] = 1_000_000.into()),
        ("rate above 1", |result| {
            result["policies"][0]["metrics"]["completed"] = serde_json::json!({
                "moments": {"count": 10, "sum": 20, "sum_of_squares": 40},
                "histogram": {"2": 10},
            });
        }),
        ("name", |result| result["experiment"] = "a\u{1b}[31m".into()),
        ("policy", |result| result["policies"][0]["policy"] = "a\nb".into()),
        ("metric", |result| result["metrics"] = serde_json::json!(["pases"])),
    ];
    for (name, change) in changes {
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut result);
        fs::write(folder.path().join("changed.json"), result.to_string()).unwrap();
        println!("{name}");
        refuse(folder.path(), &["merge", "changed.json"], "inconsistent result");
        refuse(folder.path(), &["report", "changed.json"], "inconsistent result");
    }
}

/// Security alone decides, and every confidence is 1: the values follow by hand.
const FINITE: &str = "
description: A test.
runs: 4000
plans: {acceptable: 0.6}
metrics: [completed, vetoed, wrong_proceed, wrong_block, passes]
debaters:
  all: {miss: 1, confidence: {constant: 1}}
  security: {false_alarm: 0.1, miss: 0.25, confidence: {constant: 1}}
executor: {success: 0.9, harmful_success: 0.5}
";

#[test]
fn exact_values_stand_beside_estimates() {
    let folder = folder();
    fs::write(folder.path().join("finite.yaml"), FINITE).unwrap();
    succeed(folder.path(), &["run", "finite.yaml", "--out-dir", "out"]);
    let arguments = ["exact", "finite.yaml", "--compare", "out/finite.json"];
    let text = succeed(folder.path(), &arguments);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
    let json = succeed(folder.path(), &[&arguments[..], &["--format", "json", "--prism", "model"]].concat());
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::exact()).unwrap();
    assert!(
        schema.is_valid(&report),
        "{:?}",
        schema.iter_errors(&report).next().map(|error| error.to_string())
    );
    let value = |name: &str| {
        let metrics = report["policies"][0]["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["metric"] == name).unwrap()["value"]["low"].as_f64().unwrap()
    };
    for (name, expected) in [
        ("vetoed", 0.36),
        ("wrong_block", 0.06),
        ("wrong_proceed", 0.1),
        ("completed", 0.54 * 0.9 + 0.05),
        ("passes", 1.0),
    ] {
        assert!((value(name) - expected).abs() < 1e-12, "{name}: {}", value(name));
    }
    assert!(folder.path().join("model/finite.1.tra").exists());
    // Estimates of other modules disagree.
    fs::write(folder.path().join("finite.yaml"), FINITE.replace("miss: 0.25", "miss: 0.9")).unwrap();
    let other = explore(folder.path(), &arguments);
    assert_eq!(other.status.code(), Some(1), "{}", String::from_utf8_lossy(&other.stdout));
}

#[test]
fn continuous_distribution_has_no_exact_value() {
    let folder = folder();
    refuse(folder.path(), &["exact", "test.yaml"], "beta distribution");
}

/// Compares each cell of a Parquet file with the rows of CSV files; returns the number of rows.
fn compare_rows(parquet: &Path, tables: &[&Path]) -> usize {
    let file = SerializedFileReader::new(fs::File::open(parquet).unwrap()).unwrap();
    let names: Vec<String> = file
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    let mut rows = file.get_row_iter(None).unwrap();
    let mut count = 0;
    for table in tables {
        let text = fs::read_to_string(table).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next().unwrap(), names.join(","));
        for line in lines {
            let row = rows.next().unwrap().unwrap();
            let cells = row.get_column_iter().enumerate().map(|(position, (_, field))| match field {
                Field::Str(text) if (1..4).contains(&position) => text.clone(),
                Field::Long(number) if !(1..4).contains(&position) => number.to_string(),
                other => panic!("column {position}: {other}"),
            });
            assert_eq!(cells.collect::<Vec<_>>().join(","), line);
            count += 1;
        }
    }
    assert!(rows.next().is_none());
    count
}

#[test]
fn parquet_has_each_cell_of_csv() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    // More rows than a group has.
    let run = ["run", "test.yaml", "--runs", "17000", "--parquet"];
    let text = succeed(folder.path(), &[&run[..], &["--out-dir", "whole"]].concat());
    assert!(text.contains("  parquet  whole/test.parquet"), "{text}");
    assert_eq!(compare_rows(&path("whole/test.parquet"), &[&path("whole/test.csv")]), 68_000);
    let reader = SerializedFileReader::new(fs::File::open(path("whole/test.parquet")).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    // A resumed run writes the rows of the first one too, and replaces its file.
    let whole = fs::read(path("whole/test.parquet")).unwrap();
    succeed(folder.path(), &[&run[..], &["--out-dir", "whole", "--resume"]].concat());
    assert_eq!(fs::read(path("whole/test.parquet")).unwrap(), whole);
    for part in ["1/3", "2/3", "3/3"] {
        succeed(
            folder.path(),
            &["run", "test.yaml", "--runs", "17000", "--out-dir", "parts", "--shard", part],
        );
    }
    let results = ["parts/test.3-of-3.json", "parts/test.1-of-3.json", "parts/test.2-of-3.json"];
    let merge = [&["merge", "--parquet", "--result", "merged.json"], &results[..]].concat();
    succeed(folder.path(), &merge);
    assert_eq!(fs::read(path("merged.parquet")).unwrap(), whole);
}

#[test]
fn parquet_of_other_rows_is_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = ["run", "test.yaml", "--runs", "100", "--out-dir", "out", "--parquet"];
    refuse(folder.path(), &[&run[..], &["--no-rows"]].concat(), "cannot be used with");
    succeed(folder.path(), &run);
    let merge = ["merge", "out/test.json", "--parquet", "--result", "merged.json"];
    let rows = fs::read_to_string(path("out/test.csv")).unwrap();
    let last = rows.lines().last().unwrap();
    for (changed, expected) in [
        (rows.replacen("\n0,", "\n1,", 1), "expected the rows of the result, found 400 rows"),
        (rows.replace(&format!("{last}\n"), ""), "expected the rows of the result, found 399 rows"),
        (rows.replacen("\n0,", "\nzero,", 1), "line 2: column run: expected an integer, found \"zero\""),
        (format!("{rows}1,2\n"), "line 402: expected"),
        (rows.replacen("policy", "name", 1), "line 1: expected the heading of this experiment"),
        (rows.trim_end().to_owned(), "line 401: incomplete row"),
    ] {
        fs::write(path("out/test.csv"), changed).unwrap();
        refuse(folder.path(), &merge, expected);
        assert!(!path("merged.parquet").exists());
    }
    fs::remove_file(path("out/test.csv")).unwrap();
    refuse(folder.path(), &merge, "unreadable rows");
    // A file of another program is not replaced.
    for foreign in ["mine", "PAR1 mine PAR1"] {
        fs::write(path("out/test.parquet"), foreign).unwrap();
        refuse(folder.path(), &run, "the rows of an experiment as Parquet");
        assert_eq!(fs::read_to_string(path("out/test.parquet")).unwrap(), foreign);
    }
}

#[test]
fn png_files_have_twice_the_size() {
    let folder = folder();
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out", "--runs", "300"]);
    let arguments = ["report", "out/test.json", "--svg", "figures", "--png", "figures"];
    succeed(folder.path(), &arguments);
    // A second run replaces its own files.
    succeed(folder.path(), &arguments);
    let mut count = 0;
    for entry in fs::read_dir(folder.path().join("figures")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "png") {
            let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
            let reader = png::Decoder::new(file).read_info().unwrap();
            let svg = fs::read_to_string(path.with_extension("svg")).unwrap();
            let (width, height) = (reader.info().width / 2, reader.info().height / 2);
            assert!(svg.starts_with(&format!("<svg width=\"{width}\" height=\"{height}\"")), "{path:?}");
            count += 1;
        }
    }
    assert!(count > 3);
    let foreign = folder.path().join("figures/test-outcomes.png");
    fs::write(&foreign, b"\x89PNG\r\n\x1a\nmine").unwrap();
    refuse(folder.path(), &arguments, "a figure of an experiment");
    assert_eq!(fs::read(&foreign).unwrap(), b"\x89PNG\r\n\x1a\nmine");
}

#[test]
fn unsuitable_experiment_and_folder_write_nothing() {
    let folder = folder();
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out", "--runs", "30"]);
    for (changed, expected) in [
        (EXPERIMENT.replace("1..2", "2..3"), "policy 1: expected hardened with"),
        (EXPERIMENT.replace("1..2", "1..3"), "policies: expected 4, found 6"),
        (EXPERIMENT.replace("bounds.passes", "bounds.repairs"), "settings: expected bounds.passes,"),
        (format!("{EXPERIMENT}requests: 2\n"), "requests: expected 1, found 2"),
    ] {
        fs::write(folder.path().join("other.yaml"), changed).unwrap();
        refuse(folder.path(), &["report", "out/test.json", "--experiment", "other.yaml"], expected);
    }
    for option in ["--svg", "--png"] {
        let report = ["report", "out/test.json", option, "test.yaml/figures"];
        refuse(folder.path(), &report, "cannot create the folder test.yaml/figures");
    }
    assert!(!folder.path().join("out/test.html").exists());
    // Another question, seed and number of runs are those of the same policies.
    let question = EXPERIMENT.replace("A test.", "Another question?").replace("seed: 3", "seed: 4");
    fs::write(folder.path().join("other.yaml"), question).unwrap();
    succeed(folder.path(), &["report", "out/test.json", "--experiment", "other.yaml"]);
}

#[test]
fn page_has_figures_and_no_scripts() {
    let folder = folder();
    succeed(folder.path(), &["run", "test.yaml", "--out-dir", "out", "--runs", "300"]);
    let arguments = ["report", "out/test.json", "--experiment", "test.yaml", "--svg", "figures"];
    let text = succeed(folder.path(), &arguments);
    let page = fs::read_to_string(folder.path().join("out/test.html")).unwrap();
    assert!(
        page.contains("<figcaption>outcomes of the requests, by policy</figcaption>")
            && page.contains("A test.")
    );
    assert!(!page.contains("<script"));
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    let figures = text.lines().filter(|line| line.starts_with("  figure")).count();
    assert_eq!(figures, fs::read_dir(folder.path().join("figures")).unwrap().count());
    for entry in fs::read_dir(folder.path().join("figures")).unwrap() {
        let svg = fs::read_to_string(entry.unwrap().path()).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    // A second run replaces its own files, and no others.
    succeed(folder.path(), &arguments);
    fs::write(folder.path().join("out/test.html"), "<p>mine").unwrap();
    refuse(folder.path(), &arguments, "the page of an experiment");
    refuse(folder.path(), &["report", "test.yaml"], "expected the result of an experiment");

    // A name does not change the order of the texts around it.
    let result = fs::read_to_string(folder.path().join("out/test.json")).unwrap();
    let named = result.replace("bounds.passes", "bounds.pas\u{202e}ses");
    assert_ne!(named, result);
    fs::write(folder.path().join("named.json"), named).unwrap();
    succeed(folder.path(), &["report", "named.json", "--svg", "named"]);
    let page = fs::read_to_string(folder.path().join("named.html")).unwrap();
    let figure = fs::read_to_string(folder.path().join("named/test-outcomes.svg")).unwrap();
    for markup in [page, figure] {
        assert!(markup.contains("pas") && !markup.contains('\u{202e}'));
    }
}
