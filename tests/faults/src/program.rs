//! Programs of the faulty workspace: how Cargo builds them, and how they run with one fault.

use crate::workspace::{ACTIVE_FAULT, REACHED_FAULTS};
use serde::Deserialize;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// What is switched on while a program runs.
#[derive(Clone, Copy, Debug)]
pub enum Switch<'a> {
    /// Nothing.
    None,
    /// The fault with this number.
    Fault(u32),
    /// Nothing; the numbers of the faults whose code runs are written to this file, one in each line.
    Record(&'a Path),
}

/// One run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs: that of its package, for a program of tests.
    pub folder: PathBuf,
}

/// The output of a program that ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whether the exit code is 0.
    pub succeeded: bool,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl Run {
    /// The line of the output that says why there is no result.
    #[must_use]
    pub fn reason(&self) -> String {
        let lines = || self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
        let panic = lines().skip_while(|line| !line.contains("panicked at")).nth(1);
        panic.or_else(|| lines().find(|line| !line.is_empty())).unwrap_or("no output").to_owned()
    }

    /// The tests that failed, by the output of a program of tests.
    #[must_use]
    pub fn failed_tests(&self) -> Vec<String> {
        self.stdout.lines().filter_map(failed_test).map(str::to_owned).collect()
    }
}

/// The name of the test that failed, by this line of a program of tests.
#[must_use]
pub fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Runs a program. A line of its output for which `is_last` returns true ends it. Returns `None` if it takes longer than the limit; it
/// is then stopped.
///
/// # Errors
/// The program cannot be started or stopped.
pub fn run(
    invocation: &Invocation,
    switch: Switch<'_>,
    limit: Duration,
    is_last: fn(&str) -> bool,
) -> io::Result<Option<Run>> {
    let mut command = Command::new(&invocation.program);
    command.args(&invocation.arguments).current_dir(&invocation.folder);
    command.env("CARGO_MANIFEST_DIR", &invocation.folder).env_remove(ACTIVE_FAULT).env_remove(REACHED_FAULTS);
    match switch {
        Switch::None => &mut command,
        // A test that fails need not find the smallest input, or write the new snapshot.
        Switch::Fault(number) => command
            .env(ACTIVE_FAULT, number.to_string())
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("INSTA_UPDATE", "no"),
        Switch::Record(file) => command.env(REACHED_FAULTS, file),
    };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (ended, end) = channel();
    let stdout =
        child.stdout.take().map(|from| std::thread::spawn(move || read_lines(from, is_last, &ended)));
    let stderr = child.stderr.take().map(|mut from| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    match end.recv_timeout(limit) {
        Ok(End::Output) | Err(RecvTimeoutError::Disconnected) => {}
        Ok(End::LastLine) => child.kill()?,
        Err(RecvTimeoutError::Timeout) => {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
    }
    let status = child.wait()?;
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Some(Run { succeeded: status.success(), stdout: text(stdout), stderr: text(stderr) }))
}

/// Why no more output is awaited.
enum End {
    Output,
    LastLine,
}

fn read_lines(from: impl Read, is_last: fn(&str) -> bool, ended: &Sender<End>) -> String {
    let (mut from, mut text, mut line) = (BufReader::new(from), String::new(), Vec::new());
    while let Ok(1..) = from.read_until(b'\n', &mut line) {
        let read = String::from_utf8_lossy(&line);
        text.push_str(&read);
        if is_last(read.trim_end()) {
            let _ = ended.send(End::LastLine);
        }
        line.clear();
    }
    let _ = ended.send(End::Output);
    text
}

/// A program that Cargo built, with the folder of its package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The program.
    pub program: PathBuf,
    /// The folder of its package.
    pub folder: PathBuf,
}

impl Built {
    /// A run of the program in its folder.
    #[must_use]
    pub fn invocation(&self, arguments: Vec<String>) -> Invocation {
        Invocation { program: self.program.clone(), arguments, folder: self.folder.clone() }
    }
}

/// Runs Cargo in the faulty workspace and returns the programs that it built. Faults make code of which the compiler warns.
///
/// # Errors
/// Cargo does not run, or the code does not compile. Cargo has printed the reason.
pub fn build(copy: &Path, arguments: &[&str]) -> io::Result<Vec<Built>> {
    let mut child = cargo(copy)
        .args(arguments)
        .args(["--release", "--locked", "--message-format", "json-render-diagnostics"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut programs = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines()) {
        // Cargo also builds the commands that tests start.
        if let Ok(BuildMessage { executable: Some(program), manifest_path, profile }) =
            serde_json::from_str(&line?)
            && profile.test == (arguments.first() == Some(&"test"))
        {
            let folder = manifest_path.parent().unwrap_or(copy).to_path_buf();
            programs.push(Built { program, folder });
        }
    }
    if child.wait()?.success() {
        Ok(programs)
    } else {
        Err(io::Error::other(format!(
            "cargo {} failed: correct the fault that it names",
            arguments.join(" ")
        )))
    }
}

/// Cargo in the faulty workspace, with a build folder of its own.
#[must_use]
pub fn cargo(copy: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.env("CARGO_TARGET_DIR", copy.join("target")).env("RUSTFLAGS", "--cap-lints=allow");
    command.current_dir(copy);
    command
}

/// What is read of a message of Cargo.
#[derive(Deserialize)]
struct BuildMessage {
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
    profile: BuildProfile,
}

#[derive(Deserialize)]
struct BuildProfile {
    /// Whether it is a program of tests.
    test: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Invocation {
        Invocation { program: "sh".into(), arguments: vec!["-c".into(), script.into()], folder: ".".into() }
    }

    #[test]
    fn run_ends_with_the_program_its_last_line_or_the_limit() {
        let run = |script, limit| {
            run(&shell(script), Switch::None, limit, |line| failed_test(line).is_some()).unwrap()
        };
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(60));
        let ended = run("echo a; echo b >&2; exit 3", long).unwrap();
        assert_eq!((ended.succeeded, &*ended.stdout, &*ended.stderr), (false, "a\n", "b\n"));
        let failed = run("echo 'test x::y ... FAILED'; exec sleep 100", long).unwrap();
        assert_eq!((failed.succeeded, failed.failed_tests()), (false, vec!["x::y".to_owned()]));
        assert!(run("exec sleep 100", short).is_none());
    }

    #[test]
    fn switch_is_an_environment_variable() {
        let print = shell(&format!("echo ${{{ACTIVE_FAULT}-none}} ${{{REACHED_FAULTS}-none}}"));
        let printed =
            |switch| run(&print, switch, Duration::from_secs(60), |_| false).unwrap().unwrap().stdout;
        assert_eq!(printed(Switch::None), "none none\n");
        assert_eq!(printed(Switch::Fault(7)), "7 none\n");
        assert_eq!(printed(Switch::Record(Path::new("r"))), "none r\n");
    }
}
