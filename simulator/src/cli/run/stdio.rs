//! `run --stdio`: the modules are a program at the other end of standard input and output.

use crate::cli::{ExitStatus, GlobalArgs, files};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Conversation, Journal, JournalFile};
use orchestrion_scenario::policy_file;
use orchestrion_scenario::{Scenario, ScriptedEvent, ScriptedRequest};
use orchestrion_stdio::{ExitReason, Request, Requests, serve};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Reader, ScenarioRef, digest};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Drives a conversation with the host at the other end. Standard output is the protocol's; everything else goes to
/// standard error.
pub(super) fn run(subject: &str, journal: Option<&Path>, global: &GlobalArgs) -> Result<ExitStatus> {
    let path = Path::new(subject);
    let (header, deadlines, requests) = if is_policy(subject) {
        let policy = policy_file::resolve(subject, Path::new("."))?;
        let name = journal.map_or_else(|| Path::new(&policy.name).to_path_buf(), Path::to_path_buf);
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.split('.').next().unwrap_or_default();
        (Header::new(ConversationId::new(name), policy, None), None, Requests::Host)
    } else {
        let scenario = Scenario::read(path)?;
        let reference =
            ScenarioRef { name: scenario.name.clone(), digest: digest(scenario.text().as_bytes()) };
        let Scenario { conversation, policy, requests, deadlines, .. } = scenario;
        let (requests, left_out): (Vec<Request>, Vec<usize>) = requests.into_iter().map(request).unzip();
        let left_out: usize = left_out.iter().sum();
        if left_out > 0 && !global.quiet {
            files::print_error(&format!(
                "left to the host: {left_out} of the scenario's interruptions, crashes and cancellations"
            ));
        }
        (Header::new(conversation, policy, Some(reference)), Some(deadlines), Requests::Known(requests))
    };
    let fresh = journal.is_none();
    let journal = match journal {
        Some(journal) => journal.to_path_buf(),
        None => traces_path(
            header.scenario.as_ref().map_or(&header.policy.name, |scenario| &scenario.name),
            global,
        )?,
    };
    let mut kept = JournalFile::open(&journal).into_diagnostic()?;
    if fresh {
        begin_anew(&mut kept, &journal)?;
    }
    let conversation = Conversation::open_with(kept, &header, &StandardContexts).into_diagnostic()?;
    let conversation = conversation.with_deadlines(deadlines.unwrap_or_default());
    let left = serve(conversation, requests, BufReader::new(io::stdin()), io::stdout()).into_diagnostic()?;
    let shown = files::quoted(&journal);
    Ok(match left {
        ExitReason::Closed => {
            if !global.quiet {
                files::print_error(&format!("closed; look at it: orchestrion show {shown}"));
            }
            ExitStatus::Success
        }
        ExitReason::HostDisconnected(waiting) => {
            let waiting = waiting.map(|call| format!(" while {call} was waited for")).unwrap_or_default();
            let again = files::quoted(Path::new(subject));
            files::print_error(&format!(
                "standard input ended{waiting}; go on with: orchestrion run --stdio {again} --journal {shown}"
            ));
            ExitStatus::Incomplete
        }
        ExitReason::Halted(refusal) => {
            files::print_error(&format!("HALTED: {refusal}; look at it: orchestrion show {shown}"));
            ExitStatus::Failure
        }
    })
}

/// What a host is asked of a request, and how much of what happens in it is not played.
fn request(ScriptedRequest { user, says, incidents }: ScriptedRequest) -> (Request, usize) {
    let all = incidents.len();
    let writes = incidents.into_iter().filter_map(|(_, incident)| match incident {
        ScriptedEvent::Write(written) => Some(written.write.value),
        ScriptedEvent::Interrupt(_) | ScriptedEvent::Crash | ScriptedEvent::Cancel => None,
    });
    let writes: Vec<Write> = writes.collect();
    let left_out = all - writes.len();
    (Request { user, says, writes }, left_out)
}

/// A built-in policy, or a file that does not say what is asked for.
fn is_policy(subject: &str) -> bool {
    Policy::built_in(subject).is_some()
        || std::fs::read_to_string(subject).is_ok_and(|text| {
            !text.lines().any(|line| line.starts_with("requests:") || line.starts_with('{'))
        })
}

/// Where a conversation is kept that is not said where.
fn traces_path(name: &str, global: &GlobalArgs) -> Result<PathBuf> {
    // A policy may be called anything; this must stay a file in that folder.
    let path = global.out_dir.join(format!("{}.trace.ndjson", name.replace(['/', '\\'], "-")));
    std::fs::create_dir_all(&global.out_dir)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make {}", global.out_dir.display()))?;
    files::refuse_other_than_trace(&path)?;
    Ok(path)
}

/// Empties a journal that is locked, unless a conversation is in it that could be gone on with.
fn begin_anew(kept: &mut JournalFile, path: &Path) -> Result<()> {
    let name = kept.name();
    let is_open = {
        let mut input = kept.read().into_diagnostic()?;
        let is_empty = input.fill_buf().into_diagnostic()?.is_empty();
        !is_empty && Reader::new(input, &name).is_ok_and(|mut reader| reader.is_incomplete())
    };
    if is_open {
        return Err(miette!(
            help = "go on with it by `--journal`, keep the new one elsewhere by `--journal` or `--out`, or remove the file",
            "{}: the conversation in it was never closed",
            path.display()
        ));
    }
    kept.truncate(0).into_diagnostic()
}
