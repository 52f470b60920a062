//! A team of models behind HTTP, in a program that is killed during a request and resumes it.
//!
//! ```console
//! $ cargo run --example http_team                         # runs a request, is killed, resumes, and checks the effects
//! $ cargo run --example http_team -- FOLDER [REQUEST]     # resumes or runs one request, with the journal in the folder
//! $ cargo run --example http_team -- --network FOLDER     # runs one request over nodes with endpoints and keys of their own
//! ```
//!
//! The program starts a small server for the models. `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL` name another one; it
//! must speak plain HTTP, such as a local model server. `HTTP_TEAM_DEADLINE_MS` is the deadline of a call.

mod models;
mod network;
mod node;
mod server;
mod team;

use models::Models;
use orchestrion_kernel::Policy;
use orchestrion_runtime::{Conversation, Deadlines};
use orchestrion_text::StandardContexts;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use std::{env, fs, thread};
use team::Team;

const REQUEST: &str = "Order two packs of paper, and tell the office when it comes";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1).peekable();
    if args.next_if_eq("--network").is_some() {
        let folder = args.next().ok_or("expected a folder after --network")?;
        return network::run(Path::new(&folder), args.next().as_deref().unwrap_or(REQUEST)).await;
    }
    let base_url = match env::var("OPENAI_BASE_URL") {
        Ok(base_url) => base_url,
        Err(_) => server::start()?,
    };
    match args.next() {
        None => killed_half_way(&base_url).await,
        Some(folder) => once(Path::new(&folder), &base_url, args.next()).await,
    }
}

/// Resumes the unfinished request, or runs a new one, and prints the final answer.
async fn once(folder: &Path, base_url: &str, request: Option<String>) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    team::write_locks(folder)?;
    let mut conversation = opened(folder)?;
    if let Ok(deadline_ms) = env::var("HTTP_TEAM_DEADLINE_MS") {
        conversation =
            conversation.with_deadlines(Deadlines::new(Duration::from_millis(deadline_ms.parse()?)));
    }
    let mut team = Team::new(Models::at(base_url), folder);
    team.stalls = env::var_os("HTTP_TEAM_STALLS").is_some();
    let resumed = conversation.resume(&team).await?;
    let answered = match resumed.or_else(|| conversation.last_result().cloned()) {
        Some(answered) if request.is_none() => answered,
        _ => conversation.run_request(&team, "ada", request.as_deref().unwrap_or(REQUEST)).await?,
    };
    println!("\nThe answer to {}:", answered.trace);
    answered.text.as_str().lines().for_each(|line| println!("  {}", team::plain(line)));
    Ok(())
}

fn opened(folder: &Path) -> Result<Conversation<orchestrion_runtime::JournalFile>, Box<dyn Error>> {
    Ok(Conversation::open(folder.join("office.ndjson"), Policy::hardened(), &StandardContexts)?)
}

/// Runs this program as a child, kills it after its first effect, runs it again, and compares the effects.
async fn killed_half_way(base_url: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("http_team-").tempdir()?.keep();
    println!("The models are at {base_url}. ada asks: {REQUEST}.\n");

    let first = child(&folder, base_url)?.env("HTTP_TEAM_STALLS", "yes").spawn()?;
    match kill_after_first_effect(first, &folder)? {
        true => println!(
            "\nKilled: the effect has happened, its answer is not recorded. The program starts again.\n"
        ),
        false => println!("\nIt ended before it had any effect, so it was not killed.\n"),
    }
    let second = child(&folder, base_url)?.status()?;
    if !second.success() {
        return Err(
            format!("the second run ended with {second}; what it left is in {}", folder.display()).into()
        );
    }

    let effects = fs::read_to_string(folder.join("effects.txt")).unwrap_or_default();
    println!("\nWhat happened outside, by the key of the call:");
    effects.lines().for_each(|line| println!("  {}", line.replace('\t', "  ")));
    let mut doings: Vec<&str> = effects.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    let count = doings.len();
    doings.sort_unstable();
    doings.dedup();
    if doings.len() < count {
        return Err(format!("an effect happened twice; see {}", folder.join("effects.txt").display()).into());
    }
    println!("Nothing happened twice.\n");
    let journal = opened(&folder)?.close().await?;
    println!("Look: orchestrion show {}", orchestrion_runtime::Journal::name(&journal));
    Ok(())
}

fn child(folder: &PathBuf, base_url: &str) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(folder).env("OPENAI_BASE_URL", base_url);
    Ok(command)
}

/// Whether there was an effect before the kill.
fn kill_after_first_effect(mut child: Child, folder: &Path) -> Result<bool, Box<dyn Error>> {
    while child.try_wait()?.is_none() {
        if fs::read(folder.join("effects.txt")).is_ok_and(|effects| effects.ends_with(b"\n")) {
            // The effect is written; the reply follows.
            thread::sleep(Duration::from_millis(50));
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}
