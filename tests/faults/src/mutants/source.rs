//! A source text with all its mutants, each behind a switch, and where the code of each one is.

use super::place::{ConstFunction, Place, PlaceKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// A written source text.
#[derive(Clone, Debug, Default)]
pub struct SwitchedSource {
    /// The text.
    pub text: String,
    /// The bytes of the code that a mutant adds, by its number.
    pub alternatives: Vec<(Range<usize>, u32)>,
    /// The bytes of the places, with the numbers of the mutants there; an outer place comes before its inner ones.
    pub places: Vec<(Range<usize>, Vec<u32>)>,
}

/// Mutants at one place: their numbers, with the code of the alternatives.
pub type Alternatives = BTreeMap<Place, Vec<(u32, String)>>;

/// Writes a source text with these mutants. The functions are no longer `const`, because a switch is read while the program runs.
/// `switch` is the path of the function that returns whether a mutant is active.
#[must_use]
pub fn write_switches(
    source: &str,
    mutants: &Alternatives,
    no_longer_const: &[&ConstFunction],
    switch: &str,
) -> SwitchedSource {
    let mut nodes: Vec<Node<'_>> = mutants
        .iter()
        .map(|(place, alternatives)| Node {
            range: place.start..place.end,
            kind: Some(place.kind),
            alternatives,
        })
        .chain(no_longer_const.iter().map(|function| Node {
            range: function.token.clone(),
            kind: None,
            alternatives: &[],
        }))
        .collect();
    // An outer place comes before its inner ones. Of equal ranges, the order of the kinds is from the outside to the inside.
    let is_expression = |node: &Node<'_>| node.kind != Some(PlaceKind::Body);
    nodes.sort_by_key(|node| (node.range.start, is_expression(node), Reverse(node.range.end), node.kind));
    let mut writer = Writer { source, switch, written: SwitchedSource::default() };
    writer.write(&nodes, 0..source.len());
    writer.written
}

struct Node<'a> {
    range: Range<usize>,
    /// Without a kind, the code is left out.
    kind: Option<PlaceKind>,
    alternatives: &'a [(u32, String)],
}

struct Writer<'a> {
    source: &'a str,
    switch: &'a str,
    written: SwitchedSource,
}

impl Writer<'_> {
    /// Writes a range of the source with the nodes in it.
    fn write(&mut self, nodes: &[Node<'_>], range: Range<usize>) {
        let (mut rest, mut done) = (nodes, range.start);
        while let [node, others @ ..] = rest {
            self.push(&self.source[done..node.range.start]);
            let inner_count = others.iter().take_while(|other| other.range.start < node.range.end).count();
            let (inner, later) = others.split_at(inner_count);
            self.write_node(node, inner);
            (rest, done) = (later, node.range.end);
        }
        self.push(&self.source[done..range.end]);
    }

    fn write_node(&mut self, node: &Node<'_>, inner: &[Node<'_>]) {
        let Some(kind) = node.kind else { return };
        let start = self.written.text.len();
        let place = self.written.places.len();
        self.written
            .places
            .push((start..start, node.alternatives.iter().map(|(number, _)| *number).collect()));
        let switched: Vec<String> =
            node.alternatives.iter().map(|(number, _)| format!("{}({number})", self.switch)).collect();
        let none_of_them =
            || switched.iter().map(|active| format!("!{active}")).collect::<Vec<_>>().join(" && ");
        match kind {
            PlaceKind::Body => {
                for ((number, code), active) in node.alternatives.iter().zip(&switched) {
                    self.push(&format!("if {active} {{ return "));
                    self.push_alternative(*number, code);
                    self.push("; } ");
                }
                self.write(inner, node.range.clone());
            }
            PlaceKind::Expression => {
                self.push("(");
                for ((number, code), active) in node.alternatives.iter().zip(&switched) {
                    self.push(&format!("if {active} {{ "));
                    self.push_alternative(*number, code);
                    self.push(" } else ");
                }
                self.push("{ ");
                self.write(inner, node.range.clone());
                self.push(" })");
            }
            PlaceKind::Pattern => {
                self.write(inner, node.range.clone());
                self.push(&format!(" if {}", none_of_them()));
            }
            PlaceKind::Guard => {
                self.push(&format!("{} && (", none_of_them()));
                self.write(inner, node.range.clone());
                self.push(")");
            }
        }
        self.written.places[place].0.end = self.written.text.len();
    }

    fn push(&mut self, text: &str) {
        self.written.text.push_str(text);
    }

    fn push_alternative(&mut self, number: u32, code: &str) {
        let start = self.written.text.len();
        self.push(code);
        self.written.alternatives.push((start..self.written.text.len(), number));
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::{Genre, Mutant, MutantName};
    use super::super::place::Places;
    use super::*;

    /// Writes mutants: the genre, the replaced code, which occurs once, and the code instead of it.
    fn written(source: &str, mutants: &[(Genre, &str, &str)]) -> SwitchedSource {
        let places = Places::read(source).unwrap();
        let mut alternatives = Alternatives::new();
        for (number, (genre, code, replacement)) in (1..).zip(mutants) {
            let start = source.find(code).unwrap();
            let name =
                MutantName { file: String::new(), change: String::new(), code: String::new(), position: 1 };
            let place = start..start + code.len();
            let mutant =
                Mutant { number, name, genre: *genre, place, replacement: (*replacement).to_owned() };
            let (place, code) = places.place(&mutant).unwrap();
            alternatives.entry(place).or_default().push((number, code));
        }
        let constant: Vec<&ConstFunction> = places.constant_functions.iter().collect();
        write_switches(source, &alternatives, &constant, "on")
    }

    #[test]
    fn each_genre_has_its_switch() {
        let of = |source, mutants: &[_]| written(source, mutants).text;
        assert_eq!(
            of("pub const fn f() -> u8 { 7 }", &[(Genre::FnValue, "7", "0"), (Genre::FnValue, "7", "1")]),
            "pub fn f() -> u8 { if on(1) { return 0; } if on(2) { return 1; } 7 }"
        );
        assert_eq!(
            of(
                "fn f() { -a < b + c }",
                &[
                    (Genre::BinaryOperator, "<", "=="),
                    (Genre::BinaryOperator, "+", "-"),
                    (Genre::UnaryOperator, "-", ""),
                ]
            ),
            "fn f() { (if on(1) { -a == b + c } else { (if on(3) { a } else { -a }) < (if on(2) { b - c } else { b + c }) }) }"
        );
        assert_eq!(
            of(
                "fn f() { match a { B => 1, C if x => 2, D => 3, _ => 4 } }",
                &[
                    (Genre::MatchArm, "B => 1,", ""),
                    (Genre::MatchArm, "C if x => 2,", ""),
                    (Genre::MatchArmGuard, "x", "true"),
                ]
            ),
            "fn f() { match a { B if !on(1) => 1, C if !on(2) && ((if on(3) { true } else { x })) => 2, D => 3, _ => 4 } }"
        );
        assert_eq!(
            of("fn f() { A { b, c: 1, ..d } }", &[(Genre::StructField, "b", "")]),
            "fn f() { (if on(1) { A {  c: 1, ..d } } else { A { b, c: 1, ..d } }) }"
        );
    }

    #[test]
    fn places_name_their_mutants() {
        let written = written(
            "fn f() { a < b + c }",
            &[(Genre::BinaryOperator, "<", ">"), (Genre::BinaryOperator, "+", "*")],
        );
        let codes: Vec<(&str, u32)> = written
            .alternatives
            .iter()
            .map(|(range, number)| (&written.text[range.clone()], *number))
            .collect();
        assert_eq!(codes, [("a > b + c", 1), ("b * c", 2)]);
        assert_eq!(&written.text[written.places[1].0.clone()], "(if on(2) { b * c } else { b + c })");
        assert!(written.places[0].0.end >= written.places[1].0.end);
    }

    #[test]
    fn chain_with_let_has_no_place() {
        let source = "fn f() { if a && let B = c { } }";
        let places = Places::read(source).unwrap();
        let name =
            MutantName { file: String::new(), change: String::new(), code: String::new(), position: 1 };
        let at = source.find("&&").unwrap();
        let mutant = Mutant {
            number: 1,
            name,
            genre: Genre::BinaryOperator,
            place: at..at + 2,
            replacement: "||".into(),
        };
        assert_eq!(places.place(&mutant), None);
    }
}
