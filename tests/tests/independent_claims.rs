//! Claims judge the kernel, so neither they nor their references call the kernel's deciding code.
//!
//! The test reads the sources. A call to a function of the kernel must be one of [`DATA`], or of [`SUBJECTS`] in its file. Types are
//! not known: a method is allowed if every public method of the kernel with its name is, and a method of the claims' own types may
//! have the name of a deciding one only on a receiver of [`OWN_RECEIVERS`]. Macros of the kernel define only ids, numbers, and the
//! switches of a policy, so their functions are not read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_tests::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Access to data: fields, constructors, searches by id, projections of an enum, and exact numbers.
const DATA: &[(&str, &[&str])] = &[
    ("Assignment", &["is_local", "is_running"]),
    ("Call", &["running_task"]),
    ("Connections", &["get", "insert", "is_empty", "iter"]),
    (
        "Control",
        &[
            "conversation",
            "next_call",
            "next_request",
            "pending_call",
            "pending_calls",
            "phase",
            "request",
            "session",
        ],
    ),
    ("Effect", &["kind"]),
    ("EffectsLedger", &["get", "is_empty", "iter"]),
    ("Input", &["reply", "session_start", "user_message"]),
    ("Item", &["fact", "user"]),
    ("ItemKey", &["fact", "request"]),
    ("Millionths", &["clamp_to_unit", "get", "new", "to_score"]),
    ("Module", &["capability"]),
    ("Network", &["node"]),
    ("NetworkState", &["assignment", "assignments", "node", "nodes", "orchestrator", "policy"]),
    ("NewFact", &["global"]),
    ("Operation", &["module", "task"]),
    ("PerRole", &["get", "get_mut"]),
    ("Phase", &["region"]),
    ("Plan", &["aggregation", "new", "task", "tasks", "with_aggregation"]),
    ("Problem", &["budget", "candidates"]),
    ("RankTable", &["iter"]),
    ("RecentPartners", &["iter"]),
    ("Request", &["outcome"]),
    ("SemanticState", &["entries", "get", "is_empty", "next_id", "request"]),
    ("SituationSummary", &["fields"]),
    ("State", &["control", "network", "now", "semantic"]),
    ("TaskOutcomes", &["is_empty", "iter"]),
    ("Text", &["as_str"]),
    ("Timestamp", &["millis"]),
    ("TransitionId", &["transition"]),
    ("Workflow", &["assigned_node", "failed_validations"]),
    ("WriteSource", &["declared"]),
];

/// What a claim judges, and what runs the claims: the file, the function, and the reason.
const SUBJECTS: &[(&str, &str, &str)] = &[
    ("catalogue/contexts.rs", "ByteMeasure", "whether the search proved a context"),
    ("catalogue/contexts.rs", "ExactSelector", "whether the search proved a context"),
    ("catalogue/contexts.rs", "build_context", "whether the search proved a context"),
    ("catalogue/decisions.rs", "apply", "C-187 judges the decision on a later revision"),
    ("catalogue/interactions.rs", "apply", "the claims' own nodes"),
    ("catalogue/kernel.rs", "apply", "C-66 judges the state after a resume"),
    ("catalogue/knowledge.rs", "is_consistent", "C-30 judges the private indexes and digests too"),
    ("catalogue/network.rs", "apply", "C-130 and C-131 judge responses in changed states"),
    ("catalogue/reading.rs", "get_current_value", "C-210 judges it"),
    ("catalogue/reading.rs", "is_fact_current", "C-210 judges it"),
    ("catalogue/reading.rs", "read_valid_facts", "C-210 judges it"),
    ("catalogue/scopes.rs", "apply", "C-242 judges the scope of a request after a plan"),
    ("catalogue/situation.rs", "apply", "C-94 compares states after replies"),
    ("catalogue/situation.rs", "situation", "C-93 judges what contexts read"),
    ("catalogue/situation.rs", "summary_schema", "C-244 judges it"),
    ("catalogue/trust.rs", "load", "C-145 judges its range"),
    ("context_question.rs", "reduced_to_context", "runs the claims about contexts"),
    ("evaluate.rs", "accepts", "the function that the claims judge"),
    ("evaluate.rs", "apply", "the states between the events of a batch"),
    ("evaluate.rs", "decide", "the function that the claims judge"),
    ("evaluate.rs", "input_time", "the time of an input that a claim makes"),
    ("reference/network.rs", "apply", "the states between the events of a batch"),
    ("reference/trust.rs", "apply", "the claims' own nodes"),
    ("sent_call.rs", "ByteMeasure", "the context that the claims judge"),
    ("sent_call.rs", "ExactSelector", "the context that the claims judge"),
    ("sent_call.rs", "Selector", "the context that the claims judge"),
    ("sent_call.rs", "build_context_with_problem", "the context that the claims judge"),
];

/// Names of methods of the standard library that the kernel also gives to deciding code or to other collections.
const STANDARD: &[&str] =
    &["clear", "contains", "get", "insert", "is_empty", "iter", "len", "push", "remove"];

/// The method of many types that returns the word for a value.
const WORD: &str = "name";

/// Receivers of the claims' own types.
const OWN_RECEIVERS: &[&str] = &["self", "past", "sent"];

const REMEDY: &str = "write a reference in kernel/claims/src/reference, or add an access to data to \
                      tests/tests/independent_claims.rs";

/// The public functions of the kernel, and the types that it defines.
#[derive(Default)]
struct Kernel {
    /// The types of each method with a receiver.
    methods: BTreeMap<String, BTreeSet<String>>,
    /// The associated functions, with and without a receiver: type and name.
    associated: BTreeSet<(String, String)>,
    /// The types whose use is deciding: selectors and measures.
    traits: BTreeSet<String>,
}

impl Kernel {
    fn read(folder: &Path) -> Self {
        let mut kernel = Self::default();
        for (_, text) in sources(folder) {
            kernel.add_items(&syn::parse_file(&text).unwrap().items);
        }
        kernel
    }

    fn add_items(&mut self, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Mod(module) if module.ident != "tests" => {
                    module.content.iter().for_each(|(_, items)| self.add_items(items));
                }
                syn::Item::Trait(defined) if matches!(defined.vis, syn::Visibility::Public(_)) => {
                    self.traits.insert(defined.ident.to_string());
                }
                syn::Item::Impl(block) if block.trait_.is_none() => {
                    let syn::Type::Path(owner) = &*block.self_ty else { continue };
                    let owner = owner.path.segments.last().unwrap().ident.to_string();
                    block.items.iter().for_each(|item| self.add_method(&owner, item));
                }
                _ => {}
            }
        }
    }

    fn add_method(&mut self, owner: &str, item: &syn::ImplItem) {
        let syn::ImplItem::Fn(method) = item else { return };
        if !matches!(method.vis, syn::Visibility::Public(_)) {
            return;
        }
        let name = method.sig.ident.to_string();
        if method.sig.receiver().is_some() {
            self.methods.entry(name.clone()).or_default().insert(owner.to_owned());
        }
        self.associated.insert((owner.to_owned(), name));
    }
}

/// A call in the sources of the claims.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    line: usize,
    call: String,
}

/// The calls in a file that are neither access to data nor a subject. `used` gets the entries of the tables that occur.
fn deciding_calls(
    file: &str,
    text: &str,
    kernel: &Kernel,
    own: &BTreeSet<String>,
    used: &mut BTreeSet<String>,
) -> Vec<Finding> {
    let tokens = flatten(text.parse().unwrap());
    let mut found = Vec::new();
    let mut report = |line: usize, call: String| found.push(Finding { file: file.to_owned(), line, call });
    let mut subjects = BTreeSet::new();
    let mut is_subject = |name: &str| {
        let is_one = SUBJECTS.iter().any(|(of, subject, _)| (*of, *subject) == (file, name));
        if is_one {
            subjects.insert(format!("{file} {name}"));
        }
        is_one
    };
    for (path, line) in kernel_paths(&tokens) {
        let name = path.rsplit("::").next().unwrap();
        let is_type = path.split("::").any(|part| part.starts_with(char::is_uppercase));
        let is_type = is_type && !kernel.traits.contains(name);
        let is_choice = matches!(name, "ByteMeasure" | "ExactSelector");
        if (!is_type || is_choice) && !is_subject(name) {
            report(line, path);
        }
    }
    let mut calls = Vec::new();
    for (at, window) in tokens.windows(4).enumerate() {
        let receiver = at.checked_sub(1).and_then(|at| tokens.get(at)).map(ToString::to_string);
        match window {
            [TokenTree::Punct(dot), TokenTree::Ident(name), open, next]
                if dot.as_char() == '.' && (is_open(open) || is_punct(open, ':') && is_punct(next, ':')) =>
            {
                calls.push((None, receiver, name.to_string(), name.span().start().line));
            }
            [TokenTree::Ident(owner), first, second, TokenTree::Ident(name)]
                if is_punct(first, ':') && is_punct(second, ':') =>
            {
                calls.push((Some(owner.to_string()), None, name.to_string(), name.span().start().line));
            }
            _ => {}
        }
    }
    for (owner, receiver, name, line) in calls {
        let owners: BTreeSet<String> = match &owner {
            Some(owner) if kernel.associated.contains(&(owner.clone(), name.clone())) => {
                [owner.clone()].into()
            }
            Some(_) => continue,
            None => kernel.methods.get(&name).cloned().unwrap_or_default(),
        };
        let is_own = own.contains(&name)
            && receiver.is_some_and(|receiver| OWN_RECEIVERS.contains(&receiver.as_str()));
        let allowed = |owner: &String| DATA.iter().any(|(of, names)| of == owner && names.contains(&&*name));
        if owners.iter().any(allowed) {
            used.extend(owners.iter().filter(|owner| allowed(owner)).map(|owner| format!("{owner}::{name}")));
        }
        let is_standard = owner.is_none() && (STANDARD.contains(&name.as_str()) || name == WORD);
        if !owners.iter().all(allowed) && !is_standard && !is_own && !is_subject(&name) {
            report(line, owner.map_or_else(|| format!(".{name}()"), |owner| format!("{owner}::{name}")));
        }
    }
    used.extend(subjects);
    found
}

/// The paths of imports and expressions that start at the kernel or at the optimizer, with their lines.
fn kernel_paths(tokens: &[TokenTree]) -> Vec<(String, usize)> {
    let mut paths = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Ident(name) = token else { continue };
        if !["orchestrion_kernel", "orchestrion_optimizer"].contains(&name.to_string().as_str()) {
            continue;
        }
        // The prefixes of the nested groups of an import.
        let (mut stack, mut path): (Vec<String>, _) = (Vec::new(), name.to_string());
        for token in &tokens[at + 1..] {
            match token {
                TokenTree::Ident(part) => path = format!("{path}::{part}"),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                TokenTree::Punct(punct) if punct.as_char() == '*' => path.push_str("::*"),
                TokenTree::Literal(mark) if mark.to_string() == "\"{\"" => stack.push(path.clone()),
                TokenTree::Literal(mark) if mark.to_string() == "\"}\"" && !stack.is_empty() => {
                    let group = stack.pop().unwrap();
                    let last = core::mem::take(&mut path);
                    paths.extend((last != group).then(|| (last, name.span().start().line)));
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' && !stack.is_empty() => {
                    paths.push((core::mem::take(&mut path), name.span().start().line));
                    path.clone_from(stack.last().unwrap());
                }
                _ => break,
            }
        }
        paths.push((path, name.span().start().line));
    }
    // A group leaves the empty path after it.
    paths.retain(|(path, _)| path.contains("::") && !path.ends_with("::"));
    paths
}

/// The tokens without nesting. A literal marks where braces open and close, an opening parenthesis is one too.
fn flatten(stream: TokenStream) -> Vec<TokenTree> {
    let mark = |text: &str| TokenTree::Literal(proc_macro2::Literal::string(text));
    let mut flat = Vec::new();
    for token in stream {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                flat.push(mark(open));
                flat.extend(flatten(group.stream()));
                flat.push(mark(close));
            }
            token => flat.push(token),
        }
    }
    flat
}

fn is_open(token: &TokenTree) -> bool {
    token.to_string() == "\"(\""
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

/// The source files below a folder, with their paths from there.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder_or_file) = open.pop() {
        if folder_or_file.is_dir() {
            open.extend(fs::read_dir(&folder_or_file).unwrap().map(|entry| entry.unwrap().path()));
        } else if folder_or_file.extension().is_some_and(|extension| extension == "rs") {
            let name = folder_or_file.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            files.push((name, fs::read_to_string(&folder_or_file).unwrap()));
        }
    }
    files.sort_unstable();
    files
}

/// The functions that these sources define.
fn own_functions(sources: &[(String, String)]) -> BTreeSet<String> {
    let mut own = BTreeSet::new();
    for (_, text) in sources {
        for window in flatten(text.parse().unwrap()).windows(2) {
            if let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = window
                && keyword == "fn"
            {
                own.insert(name.to_string());
            }
        }
    }
    own
}

#[test]
fn claims_call_no_deciding_code() {
    let kernel = Kernel::read(&root().join("kernel/src"));
    let claims = sources(&root().join("kernel/claims/src"));
    let own = own_functions(&claims);
    let mut used = BTreeSet::new();
    let calls = |(file, text): &(String, String)| deciding_calls(file, text, &kernel, &own, &mut used);
    let found: Vec<Finding> = claims.iter().flat_map(calls).collect();
    let lines = found.iter().map(|Finding { file, line, call }| {
        format!("kernel/claims/src/{file}:{line}: deciding code of the kernel: expected access to data, found `{call}`; {REMEDY}\n")
    });
    assert!(found.is_empty(), "{}", lines.collect::<String>());
    let data =
        DATA.iter().flat_map(|(owner, names)| names.iter().map(move |name| format!("{owner}::{name}")));
    let subjects = SUBJECTS.iter().map(|(file, name, _)| format!("{file} {name}"));
    let unused: Vec<String> = data.chain(subjects).filter(|entry| !used.contains(entry)).collect();
    assert_eq!(unused, [""; 0], "entries of the tables that no claim uses; delete them");
}

#[test]
fn deciding_calls_are_found_with_their_lines() {
    let kernel = Kernel::read(&root().join("kernel/src"));
    let own = BTreeSet::from(["next_task".to_owned()]);
    let text = "use orchestrion_kernel::{control::{consensus, phase::Phase}, item::Item};
        fn claim(item: &Item, request: &Request, past: &History) -> bool {
            past.next_task().is_none()
                && matches!(request.next_task(), None)
                && [item].iter().all(|item| item.is_persistent())
                && items.filter(Item::is_valid).count() > 0
                && orchestrion_kernel::checker::accepts(item)
                && item.fact().is_some()
        }";
    let found = deciding_calls("catalogue/records.rs", text, &kernel, &own, &mut BTreeSet::new());
    let found: Vec<(usize, &str)> = found.iter().map(|found| (found.line, found.call.as_str())).collect();
    let expected = [
        (1, "orchestrion_kernel::control::consensus"),
        (7, "orchestrion_kernel::checker::accepts"),
        (4, ".next_task()"),
        (5, ".is_persistent()"),
        (6, "Item::is_valid"),
    ];
    assert_eq!(found, expected);
}
