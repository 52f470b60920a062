//! `run --stdio POLICY --journals FOLDER`: many conversations with one host.

use super::monitor::ClaimMonitor;
use super::stdio::{self, is_policy};
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output;
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_files::raise_open_files_limit;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_report::text::count;
use orchestrion_runtime::{Conversation, JournalFile, SyncThreads};
use orchestrion_scenario::policy_file;
use orchestrion_stdio::{ServedMany, Unread, WAITING_BYTES_MAX, serve_many};
use orchestrion_trace::Header;
use orchestrion_user_claims::UserClaim;
use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The syncs that run at the same time.
const SYNC_THREADS: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// What every conversation of the process has.
struct Shared {
    folder: PathBuf,
    policy: Policy,
    claims: Vec<UserClaim>,
    violations: Arc<AtomicUsize>,
    sync_threads: SyncThreads,
    is_quiet: bool,
}

/// Serves the conversations that the host opens. Standard output belongs to the protocol; all messages go to standard error.
pub(super) fn run(
    policy: &str,
    folder: &Path,
    claims: Vec<UserClaim>,
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    if !is_policy(policy) {
        return Err(miette!(
            help = "name a policy: the host sends the requests of each conversation",
            "{policy}: expected a policy for --journals, found a scenario"
        ));
    }
    let violations = Arc::<AtomicUsize>::default();
    std::fs::create_dir_all(folder)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", folder.display()))?;
    // A journal is an open file.
    let _as_before = raise_open_files_limit();
    let shared = Shared {
        folder: folder.to_path_buf(),
        policy: policy_file::resolve(policy, Path::new(""))?,
        claims,
        violations: Arc::clone(&violations),
        sync_threads: SyncThreads::start(SYNC_THREADS)
            .into_diagnostic()
            .wrap_err("cannot start the threads that sync journals")?,
        is_quiet: global.quiet,
    };
    let open = move |name: &str, acknowledged_step| {
        shared.open(name, acknowledged_step).map_err(|error| error.to_string())
    };
    let served = serve_many(open, BufReader::new(io::stdin()), io::stdout());
    Ok(match report(&served, global.quiet) {
        ExitStatus::Success if violations.load(Ordering::Relaxed) > 0 => ExitStatus::Failure,
        status => status,
    })
}

impl Shared {
    fn open(&self, name: &str, acknowledged_step: Option<u64>) -> Result<Conversation<JournalFile>> {
        let path = self.folder.join(format!("{name}.ndjson"));
        let file = JournalFile::open_acknowledged(&path, acknowledged_step).into_diagnostic()?;
        let file = file.with_sync_threads(self.sync_threads.clone());
        let header = Header::new(ConversationId::new(name), self.policy.clone(), None).into_journal();
        let conversation = stdio::read(file, &header, acknowledged_step)?;
        let monitor = ClaimMonitor::new(&self.claims, self.policy.clone());
        let has_checked_steps = conversation.steps() > 0 && !self.claims.is_empty();
        if has_checked_steps {
            monitor.check_journal(&path)?;
        }
        let conversation = conversation.open().into_diagnostic()?;
        if let Some(error) = conversation.snapshot_error().filter(|_| !self.is_quiet) {
            output::print_error(&format!("{}: {error}; the journal was read from its start", path.display()));
        }
        let mut monitor = monitor.printing_of(name).counting(Arc::clone(&self.violations));
        if has_checked_steps {
            monitor.read_journal(&path)?;
        }
        Ok(conversation.with_observer(monitor))
    }
}

/// Prints how the conversations ended.
fn report(served: &ServedMany, is_quiet: bool) -> ExitStatus {
    let ServedMany { closed, halted, failed, disconnected, unread } = served;
    match unread {
        Some(Unread { is_over_limit: true, .. }) => output::print_error(&format!(
            "more than {WAITING_BYTES_MAX} bytes waited for the host, so it was disconnected"
        )),
        Some(Unread { messages, .. }) => output::print_error(&format!(
            "the host did not read its standard input: {messages} messages wait; the journals contain their steps"
        )),
        None => {}
    }
    for (name, error) in failed {
        output::print_error(&format!("conversation {name}: {error}"));
    }
    for (name, refusal) in halted {
        output::print_error(&format!("conversation {name}: HALTED: {refusal}"));
    }
    let pending = disconnected.iter().filter(|(_, calls)| !calls.is_empty()).count();
    if !is_quiet || !disconnected.is_empty() {
        let open = match disconnected.len() {
            0 => String::new(),
            open => {
                format!(", {open} open, {pending} of them with pending calls; open them again to continue")
            }
        };
        output::print_error(&format!("{} closed{open}", count(*closed, "conversation")));
    }
    if !failed.is_empty() || !halted.is_empty() {
        ExitStatus::Failure
    } else if !disconnected.is_empty() || unread.is_some() {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}
