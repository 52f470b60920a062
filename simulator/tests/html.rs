//! The HTML page of a trace: complete, safe, and consistent with the trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "show/hostile.rs"]
mod hostile;

use hostile::poisoned;
use orchestrion_kernel::Event;
use orchestrion_kernel::module::Operation;
use orchestrion_report::show::{HtmlPage, PAGE_PREFIX, View, html, show};
use orchestrion_trace::{Reader, TraceErrorKind};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

fn goldens() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
    paths.sort();
    assert!(paths.len() > 20, "{paths:?}");
    paths
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(goldens().into_iter().find(|path| path.file_stem().unwrap() == name).unwrap()).unwrap()
}

fn page(trace: &[u8]) -> HtmlPage {
    html(Reader::new(trace, "some.ndjson").unwrap(), "some.ndjson", &[])
}

/// Checks whether a character controls the terminal, changes the text direction, or is invisible.
fn is_unsafe(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{200b}'..='\u{200f}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Returns every tag of the page with its attributes. Panics on an unclosed tag.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').unwrap_or_else(|| panic!("{}", &rest[at..]));
        let tag = &rest[at + 1..end];
        tags.push(tag.to_string());
        rest = &rest[end + 1..];
        // These elements contain no markup.
        for raw in ["style", "script"] {
            if tag == raw || tag.starts_with(&format!("{raw} ")) {
                rest = &rest[rest.find(&format!("</{raw}>")).unwrap()..];
            }
        }
    }
    tags
}

fn check_safe(page: &str, what: &str) {
    assert!(page.starts_with(PAGE_PREFIX), "{what}");
    let unsafe_at = page.chars().position(is_unsafe);
    assert_eq!(
        unsafe_at,
        None,
        "{what}: {:?}",
        page.chars().skip(unsafe_at.unwrap_or(0).saturating_sub(40)).take(60).collect::<String>()
    );
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) && name != "img"
                || name == "!DOCTYPE",
            "{what}: <{tag}>"
        );
        assert!(!tag.contains(" on"), "{what}: an event handler in <{tag}>");
        assert!(!tag.contains("href=\"") || tag.contains("href=\"#"), "{what}: an external link in <{tag}>");
        assert!(!tag.contains("src="), "{what}: <{tag}>");
    }
    let scripts = tags(page).iter().filter(|tag| tag.starts_with("script")).count();
    assert_eq!(scripts, 2, "{what}: expected the states and the script");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("), "{what}");
}

#[test]
fn hostile_texts_are_safe_in_every_field() {
    let mut all = 0;
    for path in goldens() {
        let what = path.display().to_string();
        let trace = std::fs::read(&path).unwrap();
        check_safe(&page(&trace).text, &what);
        let (hostile, places) = poisoned(&trace);
        all += places;
        let page = html(Reader::new(hostile.as_slice(), "some.ndjson").unwrap(), hostile::MARKER, &[]);
        assert!(page.unread.is_none(), "{what}");
        check_safe(&page.text, &what);
        // The page shows the hostile text.
        assert!(page.text.contains("&lt;img src=x onerror=alert(1)&gt;"), "{what}");
        let steps = page.summary.steps;
        for step in std::iter::once(None).chain((1..=steps).map(Some)) {
            let mut output = Vec::new();
            let reader = Reader::new(hostile.as_slice(), hostile::MARKER).unwrap();
            show(reader, &View { step, ..View::default() }, &mut output).unwrap();
            let output = String::from_utf8(output).unwrap();
            assert!(!output.chars().any(is_unsafe), "{what} at {step:?}:\n{output}");
        }
    }
    assert!(all > 3_000, "only {all} texts found");
}

#[test]
fn commands_sanitize_hostile_traces() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["rolled-back", "message-while-busy"] {
        let trace = golden(name);
        let (hostile, _) = poisoned(&trace);
        std::fs::write(folder.path().join("hostile.ndjson"), hostile).unwrap();
        std::fs::write(folder.path().join("torn.ndjson"), &trace[..trace.len() / 2]).unwrap();
        for arguments in [
            &["show", "hostile.ndjson", "--html", "page.html"][..],
            &["show", "hostile.ndjson", "--redact", "redacted.ndjson"],
            &["replay", "hostile.ndjson", "torn.ndjson"],
            &["replay", "--update", "hostile.ndjson"],
            &["promote", "hostile.ndjson", "kept"],
            &["show", "no\u{1b}[2J\u{202e}such.ndjson"],
            &["replay", "no\u{1b}[2J\u{202e}such.ndjson"],
            &["promote", "no\u{1b}[2J\u{202e}such.ndjson", "kept"],
            &["promote", "hostile.ndjson", "\u{1b}[2J\u{202e}"],
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
                .args(arguments)
                .current_dir(folder.path())
                .output()
                .unwrap();
            for text in [output.stdout, output.stderr] {
                let text = String::from_utf8(text).unwrap();
                assert!(!text.chars().any(is_unsafe), "{arguments:?}:\n{}", text.escape_debug());
            }
        }
    }
}

#[test]
fn page_contains_request_decision_and_claims() {
    let text = page(&golden("rolled-back")).text;
    for expected in [
        "Conversation rolled-back",
        "Rename the billing service",
        "A longer timeout is tolerable, though it hides the slow caller",
        "PROCEED, consensus reached",
        "<td data-label=\"Effect\">undo: Remove the new name</td>",
        "received the record",
        "rolled back",
        "Hold in every step",
        "A rollback that ends is stored as rolled back and audited. RollbackActive is no dead end.",
        "New in the state",
    ] {
        assert!(text.contains(expected), "no {expected:?} in the page");
    }
    let violated = page(&golden("as-drawn-dead-end")).text;
    assert!(violated.contains("Violated (") && violated.contains("first violated in step"));
    assert!(!text.contains("Violated ("));
}

#[test]
fn claims_are_violated_only_as_expected() {
    let mut violated = 0;
    for path in goldens() {
        let trace = std::fs::read(&path).unwrap();
        let policy = Reader::new(trace.as_slice(), "some.ndjson").unwrap().header().policy.name.clone();
        let page = page(&trace).text;
        let is_violated = page.contains("<h3 class=\"bad\">Violated (");
        // With one search node, a context is not optimal, and enumeration shows it (C-96).
        let is_expected = ["as-drawn", "one-node"].contains(&policy.as_str());
        assert_eq!(is_violated, is_expected, "{}", path.display());
        assert_eq!(page.contains("none violated"), !is_violated, "{}", path.display());
        violated += usize::from(is_violated);
    }
    assert!(violated > 1, "{violated}");
}

/// Compares every embedded state with the terminal output.
#[test]
fn page_states_equal_terminal_states() {
    for name in ["repaired", "cancelled-while-running", "crashed-and-resumed"] {
        let trace = golden(name);
        let page = page(&trace);
        let json = page.text.split("<script type=\"application/json\" id=\"states\">").nth(1).unwrap();
        let states: serde_json::Value =
            serde_json::from_str(json.split("</script>").next().unwrap()).unwrap();
        let steps = states["steps"].as_array().unwrap();
        assert_eq!(steps.len() as u64, page.summary.steps);
        let mut items = Vec::new();
        for (step, kept) in (1..).zip(steps) {
            items.resize(kept[1].as_u64().unwrap() as usize, Value::Null);
            for change in kept[2].as_array().unwrap().chunks(2) {
                items[change[0].as_u64().unwrap() as usize] = change[1].clone();
            }
            let mut output = Vec::new();
            let reader = Reader::new(trace.as_slice(), "some.ndjson").unwrap();
            show(reader, &View { step: Some(step), ..View::default() }, &mut output).unwrap();
            let output = String::from_utf8(output).unwrap();
            let squeezed: String = output.split_whitespace().collect();
            for row in kept[0].as_array().unwrap().iter().chain(&items) {
                let [name, pieces] =
                    states["rows"][row.as_u64().unwrap() as usize].as_array().unwrap().as_slice()
                else {
                    panic!("{row}")
                };
                let words: String =
                    pieces.as_array().unwrap().iter().map(|piece| piece[1].as_str().unwrap()).collect();
                // The terminal shortens quoted texts.
                let words = words.split('"').next().unwrap();
                let row: String = format!("{}{words}", name.as_str().unwrap()).split_whitespace().collect();
                assert!(squeezed.contains(&row), "{name} {step}: {row} is not in\n{output}");
            }
        }
    }
}

#[test]
fn incomplete_trace_is_shown_to_last_valid_step() {
    let trace = golden("happy");
    let text = String::from_utf8(trace).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let open = lines[..12].join("\n") + "\n";
    let torn = lines[..12].join("\n") + "\n" + &lines[12][..40];
    let edited = open.clone() + &lines[12].replace("\"n\":12", "\"n\":13") + "\n";
    for (trace, is) in [
        (&open, (|kind| matches!(kind, TraceErrorKind::MissingEnd)) as fn(&TraceErrorKind) -> bool),
        (&torn, |kind| matches!(kind, TraceErrorKind::Torn)),
        (&edited, |kind| matches!(kind, TraceErrorKind::ChainMismatch { .. })),
    ] {
        let page = page(trace.as_bytes());
        assert!(is(&page.unread.as_ref().unwrap().kind), "{:?}", page.unread);
        assert_eq!(page.summary.steps, 11);
        check_safe(&page.text, "open");
        assert!(
            page.text.contains("This trace is incomplete.")
                && page.text.contains("not ended when the trace stops")
        );
    }
}

#[test]
fn page_size_is_bounded() {
    use orchestrion_scenario::Scenario;
    use orchestrion_scenario::run::run_scenario;
    // The budget fits every context: this test measures the page only.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wide.yaml"), "name: wide\ncontexts: {budget_tokens: 4000000000}\n")
        .unwrap();
    let long = |requests: usize, sentences: usize| {
        let says = "Move one more report to the new queue, and tell who reads it. ".repeat(sentences);
        let says = format!("  - text: {}\n", says.trim()).repeat(requests);
        let text = format!(
            "description: Long.\npolicy: wide.yaml\nuser: ada\nrequests:\n{says}modules:\n  analyst: {{pro: {{confidence: 0.9}}}}\n  \
             solution: {{pro: {{confidence: 0.9}}}}\n  critic: {{con: {{confidence: 0.6, text: Not all at once}}}}\n  \
             security: {{pro: {{confidence: 0.9}}}}\n  optimizer: {{pro: {{confidence: 0.9}}}}\n"
        );
        page(&run_scenario(Scenario::parse("long.yaml", &text, folder.path()).unwrap()).unwrap().trace)
    };
    let thousand = long(46, 1);
    assert!(thousand.summary.steps > 1_000, "{}", thousand.summary.steps);
    assert!(thousand.text.len() < 2_500_000, "{} bytes", thousand.text.len());
    assert!(!thousand.text.contains("This page omits"));
    let more = long(62, 80);
    assert!(more.text.len() < 11_000_000, "{} bytes", more.text.len());
    assert!(more.text.contains("This page omits"), "{} steps", more.summary.steps);
    println!(
        "{} steps: {} bytes; {} steps: {} bytes",
        thousand.summary.steps,
        thousand.text.len(),
        more.summary.steps,
        more.text.len()
    );
}

/// Returns a browser with a headless mode. Without one, reports that the test is skipped.
fn browser(test: &str) -> Option<PathBuf> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: {test}: none of {} is installed", NAMES.join(", "));
    }
    found
}

/// Returns the DOM after the scripts ran, and the log of the browser.
fn loaded(browser: &Path, folder: &Path, file: &str) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=360,800"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"])
        .arg([OsStr::new("--user-data-dir="), folder.join("profile").as_os_str()].join(OsStr::new("")))
        .arg([OsStr::new("file://"), folder.join(file).as_os_str()].join(OsStr::new("")))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (dom, log) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && dom.contains("</html>"), "the browser loads no page:\n{log}");
    (dom, log)
}

#[test]
fn browser_loads_page_and_shows_states() {
    let Some(browser) = browser("browser_loads_page_and_shows_states") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let trace = golden("repaired");
    let (hostile, _) = poisoned(&trace);
    for (file, trace) in [("plain.html", &trace), ("hostile.html", &hostile)] {
        let page = page(trace);
        std::fs::write(folder.path().join(file), &page.text).unwrap();
        let (dom, log) = loaded(&browser, folder.path(), file);
        let errors: Vec<_> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert!(dom.contains("class=\"orchestrion-trace scripted\""), "the script did not run");
        let rows = dom.split("id=\"rows\"").nth(1).unwrap();
        let last = format!("href=\"#s{}\"", page.summary.steps);
        assert!(
            rows.contains("<span class=\"name\">phase</span>") && dom.contains(&last),
            "the page shows no state"
        );
        assert!(!dom.contains("<img"), "a text became markup");
    }
}

#[test]
fn counterexample_opens_with_the_violated_claims() {
    let banner = |page: &HtmlPage| {
        let (_, rest) = page.text.split_once("<section class=\"violations\"")?;
        rest.split_once("</section>").map(|(banner, _)| banner.to_owned())
    };
    let violating = page(&golden("as-drawn-dead-end"));
    let found = banner(&violating).expect("this trace violates claims");
    // The same claims as in the section of all claims, each with its first step.
    let (_, claims) = violating.text.split_once("Violated (").unwrap();
    let (number, claims) = claims.split_once(')').unwrap();
    let (claims, _) = claims.split_once("</ul>").unwrap();
    assert_eq!(found.matches("is violated in step").count().to_string(), number);
    for claim in claims.split("<span class=\"id\">").skip(1) {
        let (id, rest) = claim.split_once('<').unwrap();
        let (_, step) = rest.split_once("first violated in step ").unwrap();
        let (step, _) = step.split_once("</a>").unwrap();
        assert!(found.contains(&format!("{id} is violated in step {step}</a>")), "{id} {step}\n{found}");
    }
    assert_eq!(banner(&page(&golden("happy"))), None);
}

#[test]
fn path_has_a_point_for_each_transition_of_a_request() {
    for name in ["happy", "repaired", "crashed-and-resumed"] {
        let trace = golden(name);
        let page = page(&trace).text;
        for request in page.split("<article class=\"request\"").skip(1) {
            let request = request.split_once("</article>").unwrap().0;
            let drawing =
                request.split_once("<svg class=\"path\"").unwrap().1.split_once("</svg>").unwrap().0;
            let steps: Vec<u64> = drawing
                .split("<a href=\"#s")
                .skip(1)
                .map(|link| link.split_once('"').unwrap().0.parse().unwrap())
                .collect();
            let (first, last) = (steps[0], steps[steps.len() - 1]);
            let recorded = Reader::new(trace.as_slice(), name).unwrap().map(Result::unwrap);
            let taken: Vec<u64> = recorded
                .filter(|step| (first..=last).contains(&step.n))
                .filter(|step| step.events.iter().any(|event| matches!(event, Event::Transitioned { .. })))
                .map(|step| step.n)
                .collect();
            assert_eq!(steps, taken, "{name}");
            assert!(request.contains(&format!("<a href=\"#s{first}\">{first}</a> to ")), "{name}");
        }
    }
}

#[test]
fn task_without_a_result_is_neither_not_run_nor_kept() {
    let trace = golden("happy");
    let start = Reader::new(trace.as_slice(), "happy").unwrap().map(Result::unwrap).find(|step| {
        step.events
            .iter()
            .any(|event| matches!(event, Event::ToolCall { operation: Operation::RunTask { .. }, .. }))
    });
    let lines = usize::try_from(start.unwrap().n).unwrap() + 1;
    let cut: Vec<u8> = trace.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied().collect();
    let page = page(&cut);
    assert!(page.unread.is_some());
    let row = page.text.split_once("<th scope=\"row\">1. ").unwrap().1.split_once("</tr>").unwrap().0;
    assert!(row.contains("started, without a result") && row.contains("unknown"), "{row}");
    assert!(!row.contains("not run") && !row.contains("kept"), "{row}");
}

#[test]
fn browser_filters_steps_and_moves_the_state_to_a_linked_step() {
    let Some(browser) = browser("browser_filters_steps_and_moves_the_state_to_a_linked_step") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // Without its content security policy, the page runs a script of the test; its results become the title.
    let page = page(&golden("repaired")).text;
    let (before, rest) = page.split_once("<meta http-equiv").unwrap();
    let rest = &rest[rest.find('>').unwrap() + 1..];
    let script = "<script>location.hash = '#s7'; setTimeout(() => { const shown = chosen.textContent;\
        query.value = 'security PRO'; query.dispatchEvent(new Event('input'));\
        const visible = [...document.querySelectorAll('.step')].filter((step) => !step.hidden);\
        const fits = visible.every((step) => /security/i.test(step.textContent) && /pro/i.test(step.textContent));\
        const empty = [...document.querySelectorAll('ol.steps')].filter((list) => !list.hidden && !list.querySelector('.step:not([hidden])'));\
        document.title = [shown, fits, visible.length, found.textContent, empty.length].join('|'); }, 300);</script></html>";
    std::fs::write(folder.path().join("page.html"), format!("{before}{}", rest.replace("</html>", script)))
        .unwrap();
    let (dom, log) = loaded(&browser, folder.path(), "page.html");
    let title = dom.split("<title>").nth(1).unwrap().split('<').next().unwrap();
    let parts: Vec<&str> = title.split('|').collect();
    let [shown, fits, visible, found, empty] = parts[..] else { panic!("{title}: {log}") };
    assert_eq!((shown, fits, empty), ("7", "true", "0"), "{title}");
    assert!(visible.parse::<u64>().unwrap() > 1 && found.starts_with(&format!("{visible} of ")), "{title}");
}

#[test]
fn page_fits_phone_width() {
    let Some(browser) = browser("page_fits_phone_width") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (hostile, _) = poisoned(&golden("rolled-back"));
    for trace in [golden("rolled-back"), golden("approved"), hostile] {
        // A frame with the width of a phone contains the unfolded page; a script reports the overflow as the title.
        let (before, rest) = page(&trace)
            .text
            .split_once("<meta http-equiv")
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .unwrap();
        let rest = &rest[rest.find('>').unwrap() + 1..];
        let measure = "<script>document.querySelectorAll('details').forEach((d) => { d.open = true; }); \
                       parent.document.title = document.documentElement.scrollWidth - document.documentElement.clientWidth;</script></html>";
        let framed = format!("{before}{}", rest.replace("</html>", measure));
        let framed = framed.replace('&', "&amp;").replace('"', "&quot;");
        let outer = format!(
            "<!DOCTYPE html><html><title></title><iframe width=360 height=800 frameborder=0 srcdoc=\"{framed}\"></iframe></html>"
        );
        std::fs::write(folder.path().join("outer.html"), outer).unwrap();
        let (dom, log) = loaded(&browser, folder.path(), "outer.html");
        let title = dom.split("<title>").nth(1).unwrap().split('<').next().unwrap();
        assert_eq!(title, "0", "how much wider the page is than the frame; {log}");
    }
}

/// The script makes the commands of a step of the templates and of what can be set there.
#[test]
fn steps_offer_fork_and_diff() {
    let page = page(&golden("veto-in-pass-one")).text;
    for command in [
        "<code>orchestrion fork some.ndjson --step STEP --set KEY=VALUE<",
        "<code>orchestrion diff some.ndjson .orchestrion/some-fork-STEP.trace.ndjson<",
        "f: \"call.error=KIND\", m: \"message.text=TEXT\", w: \"write=WRITE\", p: \"policy.NAME=VALUE\" }",
        "?? \"call.reply=REPLY\"",
        "/(.*)STEP --set .*/",
        "/STEP(\\.trace\\.ndjson'?)$/",
    ] {
        assert_eq!(page.matches(command).count(), 1, "{command}");
    }
    for (step, class) in [(2, "step m"), (4, "step p"), (11, "step")] {
        assert!(page.contains(&format!("<li class=\"{class}\" id=\"s{step}\"")), "step {step}");
    }
    let (trace, name) = (golden("veto-in-pass-one"), "two words.ndjson");
    let page = html(Reader::new(trace.as_slice(), name).unwrap(), name, &[]).text;
    let quoted = "orchestrion diff 'two words.ndjson' '.orchestrion/two words-fork-STEP.trace.ndjson'<";
    assert!(page.contains(quoted), "a name with a space is quoted");
}
