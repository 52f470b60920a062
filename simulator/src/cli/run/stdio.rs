//! `run --stdio`: the modules are a program at standard input and output.

use super::keys::checked_keys;
use super::monitor::ClaimMonitor;
use super::network::check_network;
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::{files, output, targets};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_files::WriteError;
use orchestrion_files::limits::TEXT_FILE_BYTES_MAX;
use orchestrion_kernel::context::ContextBuilder as _;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Conversation, Deadlines, Journal, JournalFile, RecoveredConversation};
use orchestrion_scenario::policy_file;
use orchestrion_scenario::{PhaseVisit, Scenario, ScriptedEvent, ScriptedRequest, SourceText};
use orchestrion_stdio::{ExitReason, Request, Requests, Served, Unread, WAITING_BYTES_MAX, serve};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use orchestrion_trace::fork::Fork;
use orchestrion_user_claims::UserClaim;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A conversation to serve: its header, the deadlines of its calls, and the source of its requests.
struct Session {
    header: Header,
    deadlines: Deadlines,
    requests: Requests,
    network: Option<NetworkInput>,
}

/// The journal of the command line.
#[derive(Clone, Copy)]
pub(super) struct StoredJournal<'a> {
    /// `--journal`.
    pub(super) path: Option<&'a Path>,
    /// The last step that the host acknowledges.
    pub(super) acknowledged_step: Option<u64>,
}

/// Serves a conversation to the host. Standard output belongs to the protocol; all messages go to standard error.
pub(super) fn run(
    subject: &str,
    StoredJournal { path: journal, acknowledged_step }: StoredJournal<'_>,
    keys: Option<&Path>,
    claims: Vec<UserClaim>,
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    let Session { header, deadlines, requests, network } = if is_policy(subject) {
        policy_session(subject, journal)?
    } else {
        scenario_session(Path::new(subject), global)?
    };
    let path = match journal {
        Some(path) => path.to_path_buf(),
        None => {
            let name = header.scenario.as_ref().map_or(&header.policy.name, |scenario| &scenario.name);
            default_journal(name, global)
        }
    };
    let header = header.into_journal();
    // A refused command changes no file: everything is checked before the journal is created, cleared or opened.
    StandardContexts.check_policy(&header.policy).into_diagnostic()?;
    let mut monitor = ClaimMonitor::new(&claims, header.policy.clone()).printing();
    let mut notes = Vec::new();
    let mut resumed = None;
    if journal.is_some() && path.exists() {
        let file = JournalFile::open_acknowledged(&path, acknowledged_step).into_diagnostic()?;
        let mut conversation = read(file, &header, acknowledged_step)?;
        if let Some(network) = &network {
            notes.extend(check_network(&path, &mut conversation, network)?);
        }
        if conversation.steps() > 0 && !claims.is_empty() {
            monitor.check_journal(&path)?;
        }
        resumed = Some(conversation);
    }
    let recorded = resumed.as_ref().and_then(|conversation| conversation.state().network());
    let (node_keys, of_keys) = checked_keys(keys, recorded, network.as_ref())?;
    notes.extend(of_keys);
    let conversation = match (resumed, journal) {
        (Some(conversation), _) => conversation,
        (None, Some(path)) => {
            let file = JournalFile::open_acknowledged(path, acknowledged_step).into_diagnostic()?;
            read(file, &header, acknowledged_step)?
        }
        (None, None) => read(open_cleared(&path)?, &header, None)?,
    };
    // Before it is opened: a step that records a loss may not be in the file yet.
    let has_checked_steps = conversation.steps() > 0 && !claims.is_empty();
    let conversation = conversation.open().into_diagnostic()?;
    if let Some(error) = conversation.snapshot_error() {
        notes.push(format!("{}: {error}; the journal was read from its start", path.display()));
    }
    if !global.quiet {
        notes.iter().for_each(output::print_error);
    }
    if has_checked_steps {
        monitor.read_journal(&path)?;
    }
    let violations = monitor.violations();
    let conversation = conversation.with_deadlines(deadlines).with_keys(node_keys).with_observer(monitor);
    let served = serve(conversation, network, requests, BufReader::new(io::stdin()), io::stdout())
        .into_diagnostic()?;
    let status = match report(&served, subject, &path, keys, global.quiet) {
        ExitStatus::Success if violations.load(Ordering::Relaxed) > 0 => ExitStatus::Failure,
        status => status,
    };
    Ok(match served.unread {
        // The conversation is complete, but the host does not know it.
        Some(_) if status == ExitStatus::Success => ExitStatus::Incomplete,
        Some(_) | None => status,
    })
}

/// Reads a journal for a host that stored this step, if it did.
pub(super) fn read(
    file: JournalFile,
    header: &Header,
    acknowledged_step: Option<u64>,
) -> Result<RecoveredConversation<JournalFile>> {
    Conversation::read(file, header, &StandardContexts, acknowledged_step).into_diagnostic()
}

/// Writes a fork as a journal, and lets the host continue it. Standard output belongs to the protocol.
pub(in crate::cli) fn continue_with_host(
    path: &Path,
    header: &Header,
    fork: &Fork,
    keys: Option<&Path>,
    claims: &[UserClaim],
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    let (node_keys, notes) = checked_keys(keys, fork.state.network(), None)?;
    if !global.quiet {
        notes.iter().for_each(output::print_error);
    }
    files::replace_trace(path, &fork.trace)?;
    let file = JournalFile::open(path).into_diagnostic()?;
    // The host has executed no call of the fork, but may have executed those of the parent: it recovers the pending ones.
    let conversation = read(file, header, Some(fork.steps))?.open().into_diagnostic()?;
    let mut monitor = ClaimMonitor::new(claims, header.policy.clone()).printing();
    monitor.read_journal(path)?;
    let violations = monitor.violations();
    let conversation = conversation.with_keys(node_keys).with_observer(monitor);
    let served = serve(conversation, None, Requests::Host, BufReader::new(io::stdin()), io::stdout())
        .into_diagnostic()?;
    let journal = output::quoted(path);
    Ok(match served.reason {
        ExitReason::Closed => {
            if !global.quiet {
                output::print_error(&format!("closed; show it: orchestrion show {journal}"));
            }
            match violations.load(Ordering::Relaxed) {
                0 => ExitStatus::Success,
                _ => ExitStatus::Failure,
            }
        }
        ExitReason::HostDisconnected(pending) => {
            output::print_error(&format!(
                "standard input ended while {} calls were pending; the fork is not complete; show it: orchestrion show {journal}; to fork again, remove it, or choose another file with --output",
                pending.len()
            ));
            ExitStatus::Incomplete
        }
        ExitReason::Halted(refusal) => {
            output::print_error(&format!("HALTED: {refusal}; show it: orchestrion show {journal}"));
            ExitStatus::Failure
        }
    })
}

/// Prints the reason why the conversation ended.
fn report(
    Served { reason, unread }: &Served,
    subject: &str,
    journal: &Path,
    keys: Option<&Path>,
    quiet: bool,
) -> ExitStatus {
    if let Some(Unread { messages, .. }) = unread {
        output::print_error(&format!(
            "the host did not read its standard input: {messages} messages wait; the journal contains their steps"
        ));
    }
    let journal = output::quoted(journal);
    let keys = keys.map_or(String::new(), |keys| format!(" --keys {}", output::quoted(keys)));
    match reason {
        ExitReason::Closed => {
            if !quiet {
                output::print_error(&format!("closed; show it: orchestrion show {journal}"));
            }
            ExitStatus::Success
        }
        ExitReason::HostDisconnected(pending) => {
            let pending = match pending.as_slice() {
                [] => String::new(),
                [call] => format!(" while {call} was pending"),
                calls => format!(" while {} were pending", calls.join(", ")),
            };
            let subject = output::quoted(Path::new(subject));
            let cause = match unread {
                Some(Unread { is_over_limit: true, .. }) => {
                    format!("more than {WAITING_BYTES_MAX} bytes waited for the host, so it was disconnected")
                }
                Some(_) | None => "standard input ended".to_owned(),
            };
            output::print_error(&format!(
                "{cause}{pending}; resume: orchestrion run --stdio {subject} --journal {journal}{keys}"
            ));
            ExitStatus::Incomplete
        }
        ExitReason::Halted(refusal) => {
            output::print_error(&format!("HALTED: {refusal}; show it: orchestrion show {journal}"));
            ExitStatus::Failure
        }
    }
}

fn policy_session(subject: &str, journal: Option<&Path>) -> Result<Session> {
    let policy = policy_file::resolve(subject, Path::new(""))?;
    let file = journal.unwrap_or(Path::new(&policy.name));
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.split('.').next().unwrap_or_default();
    let header = Header::new(ConversationId::new(name), policy, None);
    Ok(Session { header, deadlines: Deadlines::default(), requests: Requests::Host, network: None })
}

fn scenario_session(path: &Path, global: &GlobalArgs) -> Result<Session> {
    let scenario = Scenario::read_with_default(path, &targets::default_policy(global)?)?;
    let reference = scenario.reference();
    let Scenario { conversation, policy, network, requests, deadlines, .. } = scenario;
    let (requests, ignored): (Vec<Request>, Vec<usize>) = requests.into_iter().map(host_request).unzip();
    let ignored: usize = ignored.iter().sum();
    if ignored > 0 && !global.quiet {
        output::print_error(&format!(
            "ignored: {ignored} interruptions, crashes, cancellations, network events and later writes of the scenario; the host decides these"
        ));
    }
    let header = Header::new(conversation, policy, Some(reference));
    Ok(Session {
        header,
        deadlines,
        requests: Requests::Listed(requests),
        network: network.map(|network| *network),
    })
}

/// Converts a scripted request; returns it with the number of its scripted events that are ignored.
fn host_request(request: ScriptedRequest) -> (Request, usize) {
    let ScriptedRequest { user, request, events, after: _ } = request;
    let all = events.len();
    let (mut writes, mut texts): (Vec<Write>, Vec<SourceText>) = (Vec::new(), Vec::new());
    for (at, event) in events {
        match event {
            ScriptedEvent::Write(written) if at == PhaseVisit::START => writes.push(written.write.value),
            ScriptedEvent::Ingest(text) => texts.push(text.value),
            ScriptedEvent::Write(_)
            | ScriptedEvent::Network(_)
            | ScriptedEvent::Interrupt(_)
            | ScriptedEvent::Crash
            | ScriptedEvent::Cancel => {}
        }
    }
    let ignored = all - writes.len() - texts.len();
    (Request { user, request, writes, texts }, ignored)
}

/// Whether the subject is a built-in policy, or a file without requests.
pub(super) fn is_policy(subject: &str) -> bool {
    Policy::built_in(subject).is_some()
        || orchestrion_files::read(Path::new(subject), TEXT_FILE_BYTES_MAX as u64).is_ok_and(|text| {
            let is_scenario = |line: &[u8]| line.starts_with(b"requests:") || line.starts_with(b"{");
            !text.split(|byte| *byte == b'\n').any(is_scenario)
        })
}

/// Returns the journal's path where `--journal` is absent.
fn default_journal(name: &str, global: &GlobalArgs) -> PathBuf {
    // A policy's name may contain separators; the file must stay in the output folder.
    global.out_dir.join(format!("{}.trace.ndjson", name.replace(['/', '\\'], "-")))
}

/// Opens an empty journal where `--journal` is absent. It may hold a closed conversation, which is removed with its snapshot.
fn open_cleared(path: &Path) -> Result<JournalFile> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot create {}", folder.display()))?;
    }
    let mut journal = JournalFile::open(path).into_diagnostic()?;
    match journal.check_replaceable() {
        Ok(()) => {}
        Err(WriteError::Unfinished { .. }) => {
            return Err(miette!(
                help = "resume it with --journal, store the new one elsewhere with --journal or --out-dir, or remove the file",
                "{}: holds a conversation that was not closed",
                path.display()
            ));
        }
        Err(error) => return Err(files::to_report(error)),
    }
    journal
        .remove_snapshot()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot remove the snapshot of {}", path.display()))?;
    journal.truncate(0).into_diagnostic()?;
    Ok(journal)
}
