//! The page of a trace: whole, harmless, and true to the trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "show/hostile.rs"]
mod hostile;

use hostile::poisoned;
use orchestrion_report::show::{HtmlPage, PAGE_BEGINS, Style, View, html, show};
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
    html(Reader::new(trace, "some.ndjson").unwrap(), "some.ndjson")
}

/// What acts on a terminal, on the order of a text, or is not seen.
fn acts(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{200b}'..='\u{200f}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Every tag of the page, with its attributes; fails if the markup does not close what it opens.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').unwrap_or_else(|| panic!("{}", &rest[at..]));
        let tag = &rest[at + 1..end];
        tags.push(tag.to_string());
        rest = &rest[end + 1..];
        // What is in these is no markup.
        for raw in ["style", "script"] {
            if tag == raw || tag.starts_with(&format!("{raw} ")) {
                rest = &rest[rest.find(&format!("</{raw}>")).unwrap()..];
            }
        }
    }
    tags
}

fn check_harmless(page: &str, what: &str) {
    assert!(page.starts_with(PAGE_BEGINS), "{what}");
    let acting = page.chars().position(acts);
    assert_eq!(
        acting,
        None,
        "{what}: {:?}",
        page.chars().skip(acting.unwrap_or(0).saturating_sub(40)).take(60).collect::<String>()
    );
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) && name != "img"
                || name == "!DOCTYPE",
            "{what}: <{tag}>"
        );
        assert!(!tag.contains(" on"), "{what}: an attribute that acts in <{tag}>");
        assert!(
            !tag.contains("href=\"") || tag.contains("href=\"#"),
            "{what}: a link that leaves the page in <{tag}>"
        );
        assert!(!tag.contains("src="), "{what}: <{tag}>");
    }
    let scripts = tags(page).iter().filter(|tag| tag.starts_with("script")).count();
    assert_eq!(scripts, 2, "{what}: the states, and the script that shows them");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("), "{what}");
}

#[test]
fn no_text_acts_in_a_page_or_on_a_terminal_wherever_it_stands() {
    let mut all = 0;
    for path in goldens() {
        let what = path.display().to_string();
        let trace = std::fs::read(&path).unwrap();
        check_harmless(&page(&trace).text, &what);
        let (hostile, places) = poisoned(&trace);
        all += places;
        let made = html(Reader::new(hostile.as_slice(), "some.ndjson").unwrap(), hostile::MARKER);
        assert!(made.unread.is_none(), "{what}");
        check_harmless(&made.text, &what);
        // It is there, though: whoever reads the page sees what was tried.
        assert!(made.text.contains("&lt;img src=x onerror=alert(1)&gt;"), "{what}");
        let steps = made.shown.steps;
        for at in std::iter::once(None).chain((1..=steps).map(Some)) {
            let mut shown = Vec::new();
            let reader = Reader::new(hostile.as_slice(), hostile::MARKER).unwrap();
            show(reader, &View { at, style: Style::Plain }, &mut shown).unwrap();
            let shown = String::from_utf8(shown).unwrap();
            assert!(!shown.chars().any(acts), "{what} at {at:?}:\n{shown}");
        }
    }
    assert!(all > 3_000, "texts were found at {all} places only");
}

#[test]
fn no_verb_that_reads_traces_lets_a_text_act_on_the_terminal() {
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
            for told in [output.stdout, output.stderr] {
                let told = String::from_utf8(told).unwrap();
                assert!(!told.chars().any(acts), "{arguments:?}:\n{}", told.escape_debug());
            }
        }
    }
}

#[test]
fn a_page_shows_what_a_reader_asks_about() {
    let text = page(&golden("rolled-back")).text;
    for said in [
        "Conversation rolled-back",
        "Rename the billing service",
        "A longer timeout is tolerable, though it hides the slow caller",
        "PROCEED, consensus reached",
        "<td>undone by: Remove the new name</td>",
        "took the record",
        "rolled back",
        "Held in every step",
        "A rollback that ends is stored as rolled back and audited, and is no dead end.",
        "New in the state",
    ] {
        assert!(text.contains(said), "no {said:?} in the page");
    }
    let broken = page(&golden("as-drawn-dead-end")).text;
    assert!(broken.contains("Broken (") && broken.contains("broken first in step"), "as drawn, claims break");
    assert!(!text.contains("Broken ("));
}

/// Under `hardened` every claim holds; as drawn, each trace shows at which steps which do not.
#[test]
fn claims_are_broken_only_where_the_drawing_breaks_them() {
    let mut as_drawn = 0;
    for path in goldens() {
        let trace = std::fs::read(&path).unwrap();
        let policy = Reader::new(trace.as_slice(), "some.ndjson").unwrap().header().policy.name.clone();
        let page = page(&trace).text;
        let broken = page.contains("<h3 class=\"bad\">Broken (");
        assert_eq!(broken, policy == "as-drawn", "{}", path.display());
        assert_eq!(page.contains("none broken"), !broken, "{}", path.display());
        as_drawn += usize::from(broken);
    }
    assert!(as_drawn > 1, "{as_drawn}");
}

/// Every state that the page embeds, as the terminal tells it.
#[test]
fn the_states_in_a_page_are_those_of_the_trace() {
    for name in ["repaired", "cancelled-while-running", "crashed-and-resumed"] {
        let trace = golden(name);
        let page = page(&trace);
        let json = page.text.split("<script type=\"application/json\" id=\"states\">").nth(1).unwrap();
        let states: serde_json::Value =
            serde_json::from_str(json.split("</script>").next().unwrap()).unwrap();
        let steps = states["steps"].as_array().unwrap();
        assert_eq!(steps.len() as u64, page.shown.steps);
        let mut items = Vec::new();
        for (step, kept) in (1..).zip(steps) {
            items.resize(kept[1].as_u64().unwrap() as usize, Value::Null);
            for change in kept[2].as_array().unwrap().chunks(2) {
                items[change[0].as_u64().unwrap() as usize] = change[1].clone();
            }
            let mut shown = Vec::new();
            let reader = Reader::new(trace.as_slice(), "some.ndjson").unwrap();
            show(reader, &View { at: Some(step), style: Style::Plain }, &mut shown).unwrap();
            let shown = String::from_utf8(shown).unwrap();
            let squeezed: String = shown.split_whitespace().collect();
            for row in kept[0].as_array().unwrap().iter().chain(&items) {
                let [name, pieces] =
                    states["rows"][row.as_u64().unwrap() as usize].as_array().unwrap().as_slice()
                else {
                    panic!("{row}")
                };
                let words: String =
                    pieces.as_array().unwrap().iter().map(|piece| piece[1].as_str().unwrap()).collect();
                // A terminal shortens what it shows whole below.
                let words = words.split('"').next().unwrap();
                let row: String = format!("{}{words}", name.as_str().unwrap()).split_whitespace().collect();
                assert!(squeezed.contains(&row), "{name} {step}: {row} is not in\n{shown}");
            }
        }
    }
}

#[test]
fn a_trace_without_its_end_is_shown_as_far_as_it_goes() {
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
        assert_eq!(page.shown.steps, 11);
        check_harmless(&page.text, "open");
        assert!(
            page.text.contains("This trace is not whole.")
                && page.text.contains("still running where the trace stops")
        );
    }
}

/// The chain of steps grows, the page does not.
#[test]
fn a_long_trace_makes_a_page_of_a_bounded_size() {
    use orchestrion_scenario::Scenario;
    use orchestrion_scenario::run::run_scenario;
    // With room for all of it, for what is looked at is the page.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wide.yaml"), "name: wide\ncontexts: {budget: 4000000000}\n").unwrap();
    let long = |requests: usize, sentences: usize| {
        let says = "Move one more report to the new queue, and tell who reads it. ".repeat(sentences);
        let says = format!("  - says: {}\n", says.trim()).repeat(requests);
        let text = format!(
            "about: Long.\npolicy: wide.yaml\nuser: ada\nrequests:\n{says}modules:\n  analyst: {{pro: {{confidence: 0.9}}}}\n  \
             solution: {{pro: {{confidence: 0.9}}}}\n  critic: {{con: {{confidence: 0.6, says: Not all at once}}}}\n  \
             security: {{pro: {{confidence: 0.9}}}}\n  optimizer: {{pro: {{confidence: 0.9}}}}\n"
        );
        page(&run_scenario(Scenario::parse("long.yaml", &text, folder.path()).unwrap()).unwrap().trace)
    };
    let thousand = long(46, 1);
    assert!(thousand.shown.steps > 1_000, "{}", thousand.shown.steps);
    assert!(thousand.text.len() < 2_500_000, "{} bytes", thousand.text.len());
    assert!(!thousand.text.contains("no room in this page"));
    let more = long(62, 80);
    assert!(more.text.len() < 11_000_000, "{} bytes", more.text.len());
    assert!(more.text.contains("there is no room in this page"), "{} steps", more.shown.steps);
    println!(
        "{} steps: {} bytes; {} steps: {} bytes",
        thousand.shown.steps,
        thousand.text.len(),
        more.shown.steps,
        more.text.len()
    );
}

/// A browser that runs without a screen, or `None` after saying that the test is skipped.
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

/// The page as the browser holds it after its scripts ran, and what the browser had to say.
fn loaded(browser: &Path, folder: &Path, file: &str) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=360,800"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"])
        .arg([OsStr::new("--user-data-dir="), folder.join("profile").as_os_str()].join(OsStr::new("")))
        .arg([OsStr::new("file://"), folder.join(file).as_os_str()].join(OsStr::new("")))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (dom, told) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && dom.contains("</html>"), "the browser loads no page:\n{told}");
    (dom, told)
}

#[test]
fn browser_loads_the_page_without_an_error_and_shows_the_states() {
    let Some(browser) = browser("browser_loads_the_page_without_an_error_and_shows_the_states") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let trace = golden("repaired");
    let (hostile, _) = poisoned(&trace);
    for (file, trace) in [("plain.html", &trace), ("hostile.html", &hostile)] {
        let page = page(trace);
        std::fs::write(folder.path().join(file), &page.text).unwrap();
        let (dom, told) = loaded(&browser, folder.path(), file);
        let complaints: Vec<_> = told.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(complaints.is_empty(), "{complaints:?}");
        assert!(dom.contains("class=\"orchestrion-trace scripted\""), "the script did not run");
        let rows = dom.split("id=\"rows\"").nth(1).unwrap();
        let last = format!("href=\"#s{}\"", page.shown.steps);
        assert!(
            rows.contains("<span class=\"name\">phase</span>") && dom.contains(&last),
            "no state is shown"
        );
        assert!(!dom.contains("<img"), "a text became markup");
    }
}

#[test]
fn browser_finds_nothing_wider_than_a_phone() {
    let Some(browser) = browser("browser_finds_nothing_wider_than_a_phone") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (hostile, _) = poisoned(&golden("rolled-back"));
    for trace in [golden("rolled-back"), golden("approved"), hostile] {
        // The page in a frame as wide as a phone, all of it unfolded, with a script that says how wide it came out.
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
        let (dom, told) = loaded(&browser, folder.path(), "outer.html");
        let title = dom.split("<title>").nth(1).unwrap().split('<').next().unwrap();
        assert_eq!(title, "0", "how much wider the page is than the frame; {told}");
    }
}
