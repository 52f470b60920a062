//! Tasks that run in parallel, with a host that replies in another order or was gone.

use super::host::{Host, agreed, folder, stderr};
use serde_json::{Value, json};

/// Replies until the tasks 1 and 2 run, which depend on no task. Task 3 depends on both. Returns their calls.
fn start_two_tasks(host: &mut Host) -> [Value; 2] {
    let planner = host.until("draft_plan", &mut Vec::new());
    let order =
        |task: u32| json!({"task": task, "do": format!("Order {task}"), "undo": "Cancel", "depends_on": []});
    let plan = json!([order(1), order(2), {"task": 3, "do": "Compare", "depends_on": [1, 2]}]);
    host.reply(&planner, &json!({ "plan": plan }));
    let first = host.until("run_task", &mut Vec::new());
    [first, host.until("run_task", &mut Vec::new())]
}

#[test]
fn parallel_tasks_reply_in_any_order() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let [first, second] = start_two_tasks(&mut host);
    assert_eq!((&first["payload"]["task"]["id"], &second["payload"]["task"]["id"]), (&json!(1), &json!(2)));
    host.reply(&second, &agreed(&second));
    host.reply(&first, &agreed(&first));
    let third = host.until("run_task", &mut Vec::new());
    assert_eq!(third["payload"]["task"]["depends_on"], json!([1, 2]));
    host.reply(&third, &agreed(&third));
    let mut other = Vec::new();
    assert_eq!(host.until("nothing", &mut other), "closed");
    assert_eq!(other[0]["final_answer"]["text"], "done: Order 1\ndone: Order 2\ndone: Compare");
    assert_eq!(host.ends().status.code(), Some(0));
}

#[test]
fn parallel_tasks_recover_separately() {
    let folder = folder();
    let args = ["hello.yaml", "--journal", "hello.ndjson"];
    let mut host = Host::of(folder.path(), &args);
    let [first, second] = start_two_tasks(&mut host);
    let output = host.ends();
    let complaint = stderr(&output);
    let pending =
        "while call 10 (the executor's task result), call 11 (the executor's task result) were pending";
    assert!(complaint.contains(pending), "{complaint}");

    // The first task did not start, and is called again. The second one has completed.
    let step = second["step"].to_string();
    let mut host = Host::of(folder.path(), &[&args[..], &["--acknowledged-step", &step]].concat());
    let recovering = [host.until("nothing", &mut Vec::new()), host.until("nothing", &mut Vec::new())];
    let ids = recovering.each_ref().map(|message| &message["recover"]["id"]);
    assert_eq!(ids, [&first["id"], &second["id"]]);
    host.send(&format!("{}\n", json!({"not_started": {"call": first["id"]}})));
    let again = host.until("run_task", &mut Vec::new());
    assert_eq!(again["id"], first["id"]);
    host.reply(&second, &agreed(&second));
    host.reply(&again, &agreed(&again));
    let third = host.until("run_task", &mut Vec::new());
    assert_eq!(third["payload"]["task"]["text"], "Compare");
    host.reply(&third, &agreed(&third));
    assert_eq!(host.until("nothing", &mut Vec::new()), "closed");
    assert_eq!(host.ends().status.code(), Some(0));
}
