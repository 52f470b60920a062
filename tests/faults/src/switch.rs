//! Writes all faults into a source text, each behind a switch.

use crate::list::{Kind, NumberedFault};
use orchestrion_yaml::ReadError;
use std::fmt::Write as _;

/// A replacement of the bytes from `start` to `end`.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Returns the source with these faults. `switch` is the path of the function that returns whether a fault is active.
///
/// Faults of the same code become branches of one expression. A `const fn` with a fault is no longer `const`, because a switch is read
/// while the program runs.
///
/// # Errors
/// The code of a fault does not occur once, or overlaps with that of another.
pub fn switch_faults(source: &str, faults: &[&NumberedFault], switch: &str) -> Result<String, ReadError> {
    let mut places: Vec<(usize, &NumberedFault)> = faults
        .iter()
        .map(|fault| Ok((find_once(source, fault)?, *fault)))
        .collect::<Result<_, ReadError>>()?;
    places.sort_by_key(|(start, fault)| (*start, fault.number));
    let mut edits: Vec<Edit> = Vec::new();
    for same_start in places.chunk_by(|(start, _), (next, _)| start == next) {
        let [(start, first), ..] = same_start else { continue };
        let (code, kind) = (first.fault.find.value.as_str(), first.fault.kind);
        let end = start + code.len();
        let mut overlapping = same_start
            .iter()
            .filter(|(_, fault)| (fault.fault.find.value.as_str(), fault.fault.kind) != (code, kind));
        let is_inside = edits.last().is_some_and(|earlier| *start < earlier.end);
        let overlapping = overlapping.next().or(is_inside.then_some(&same_start[0]));
        if let Some((_, fault)) = overlapping {
            let message = format!("fault {} overlaps with an earlier one in this file", fault.id());
            return Err(
                fault.error_at_code(message, "replace the same code as the other fault, or other code")
            );
        }
        edits.push(Edit { start: *start, end, text: switched(code, kind, same_start, switch) });
    }
    let mut constants: Vec<Edit> =
        edits.iter().filter_map(|edit| constant_function(source, edit.start)).collect();
    constants.dedup_by_key(|edit| edit.start);
    edits.extend(constants);
    edits.sort_by_key(|edit| edit.start);
    Ok(apply(source, &edits))
}

fn find_once(source: &str, fault: &NumberedFault) -> Result<usize, ReadError> {
    let code = fault.fault.find.value.as_str();
    let mut places = source.match_indices(code).map(|(start, _)| start);
    match (places.next(), places.count()) {
        (Some(start), 0) => Ok(start),
        (first, more) => {
            let found = if first.is_none() { 0 } else { more + 1 };
            let message = format!(
                "fault {}: expected this code once in {}, found it {found} times",
                fault.id(),
                fault.fault.file.value.as_str()
            );
            Err(fault.error_at_code(
                message,
                "copy the code from the file, with what surrounds it until it is unique",
            ))
        }
    }
}

fn switched(code: &str, kind: Kind, faults: &[(usize, &NumberedFault)], switch: &str) -> String {
    let mut text = String::new();
    for (_, fault) in faults {
        let replacement = fault.fault.replace.as_str();
        let _ = write!(text, "if {switch}({}) {{ {replacement} }} else ", fault.number);
    }
    match kind {
        Kind::Expression => format!("({text}{{ {code} }})"),
        Kind::Statement => format!("{text}{{ {code} }}"),
    }
}

/// Removes the `const` of the function around a place.
fn constant_function(source: &str, place: usize) -> Option<Edit> {
    const CONST: &str = "const ";
    let before = source.get(..place)?;
    let function = before.rfind("\nfn ").map(|at| at + 1).max(before.rfind(" fn ").map(|at| at + 1))?;
    let start = function.checked_sub(CONST.len())?;
    let is_const = source.get(start..function) == Some(CONST);
    is_const.then(|| Edit { start, end: function, text: String::new() })
}

/// Applies edits that are in order and do not overlap.
fn apply(source: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(source.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&source[done..edit.start]);
        result.push_str(&edit.text);
        done = edit.end;
    }
    result.push_str(&source[done..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::read_faults;

    fn faults(list: &str) -> Vec<NumberedFault> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("list.yaml"), list).unwrap();
        read_faults(folder.path()).unwrap()
    }

    fn fault(id: &str, kind: &str, find: &str, replace: &str) -> String {
        format!(
            "- {{id: {id}, clause: 000-1.1, fault: A fault., file: kernel/src/a.rs, kind: {kind}, find: \"{find}\", replace: \"{replace}\"}}\n"
        )
    }

    fn switched(source: &str, list: &[String]) -> Result<String, String> {
        let faults = faults(&list.concat());
        let all: Vec<&NumberedFault> = faults.iter().collect();
        switch_faults(source, &all, "on").map_err(|error| error.to_string())
    }

    #[test]
    fn each_fault_has_its_switch() {
        let source = "pub const fn f(a: u32) -> bool { a > 1 }\nfn g() { h(); }\n";
        let list = [
            fault("000-01", "expression", "a > 1", "a >= 1"),
            fault("000-02", "statement", "h();", ""),
            fault("000-03", "expression", "a > 1", "true"),
        ];
        assert_eq!(
            switched(source, &list).unwrap(),
            "pub fn f(a: u32) -> bool { (if on(1) { a >= 1 } else if on(3) { true } else { a > 1 }) }\n\
             fn g() { if on(2) {  } else { h(); } }\n"
        );
    }

    #[test]
    fn unclear_places_are_refused() {
        let source = "fn f(a: u32) -> bool { a > 1 && a > 1 || b == 2 }";
        let refused = |list: &[String]| switched(source, list).unwrap_err();
        let twice = refused(&[fault("000-01", "expression", "a > 1", "true")]);
        assert_eq!(twice, "fault 000-01: expected this code once in kernel/src/a.rs, found it 2 times");
        let absent = refused(&[fault("000-01", "expression", "a > 9", "true")]);
        assert_eq!(absent, "fault 000-01: expected this code once in kernel/src/a.rs, found it 0 times");
        let overlap =
            [fault("000-01", "expression", "1 || b == 2", "b"), fault("000-02", "expression", "b == 2", "b")];
        assert_eq!(refused(&overlap), "fault 000-02 overlaps with an earlier one in this file");
        let inside =
            [fault("000-01", "expression", "b == 2", "b"), fault("000-02", "statement", "b == 2", "true")];
        assert_eq!(refused(&inside), "fault 000-02 overlaps with an earlier one in this file");
    }
}
