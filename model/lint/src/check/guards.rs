//! Guards that exclude each other.
//!
//! A guard is a text. Two guards exclude each other for certain only as a name and its negation, or as two comparisons of
//! one name with constants. Everything else may hold together.

/// The operators, the longer first where one is a prefix of another.
const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator { less: true, equal: true, greater: false }),
    (">=", Operator { less: false, equal: true, greater: true }),
    ("!=", Operator { less: true, equal: false, greater: true }),
    ("==", Operator { less: false, equal: true, greater: false }),
    ("<", Operator { less: true, equal: false, greater: false }),
    (">", Operator { less: false, equal: false, greater: true }),
    ("=", Operator { less: false, equal: true, greater: false }),
];

/// The digits of a number after the point, and before it, at most.
const DIGITS: usize = 15;

/// Which orders of a value and a constant an operator accepts.
#[derive(Clone, Copy, Debug)]
struct Operator {
    less: bool,
    equal: bool,
    greater: bool,
}

impl Operator {
    fn accepts(self, order: std::cmp::Ordering) -> bool {
        match order {
            std::cmp::Ordering::Less => self.less,
            std::cmp::Ordering::Equal => self.equal,
            std::cmp::Ordering::Greater => self.greater,
        }
    }
}

/// A guard whose meaning is known.
#[derive(Debug)]
enum Guard<'a> {
    /// A name, or its negation.
    Flag { name: &'a str, is_negated: bool },
    /// A comparison with a number, in units of the last digit.
    Number { name: &'a str, operator: Operator, number: i128 },
    /// A comparison with a quoted text, for equality only.
    Quoted { name: &'a str, is_equal: bool, text: &'a str },
}

/// Returns whether no state of the world satisfies both guards.
pub(super) fn are_exclusive(one: &str, other: &str) -> bool {
    match (parse(one), parse(other)) {
        (
            Some(Guard::Flag { name, is_negated }),
            Some(Guard::Flag { name: other, is_negated: other_negated }),
        ) => name == other && is_negated != other_negated,
        (
            Some(Guard::Number { name, operator, number }),
            Some(Guard::Number { name: other, operator: other_operator, number: other_number }),
        ) => {
            // In half units, one value below, at, between and above the two constants each represents all others.
            let (one, two) = (2 * number, 2 * other_number);
            let values = [one.min(two) - 1, one, (one + two) / 2, two, one.max(two) + 1];
            let satisfies =
                |value: &i128| operator.accepts(value.cmp(&one)) && other_operator.accepts(value.cmp(&two));
            name == other && !values.iter().any(satisfies)
        }
        (
            Some(Guard::Quoted { name, is_equal, text }),
            Some(Guard::Quoted { name: other, is_equal: other_equal, text: other_text }),
        ) => {
            name == other
                && match (is_equal, other_equal) {
                    // A comparison may ignore case.
                    (true, true) => text.to_lowercase() != other_text.to_lowercase(),
                    (true, false) | (false, true) => text == other_text,
                    (false, false) => false,
                }
        }
        (None, _)
        | (_, None)
        | (Some(Guard::Flag { .. }), Some(Guard::Number { .. } | Guard::Quoted { .. }))
        | (Some(Guard::Number { .. }), Some(Guard::Flag { .. } | Guard::Quoted { .. }))
        | (Some(Guard::Quoted { .. }), Some(Guard::Flag { .. } | Guard::Number { .. })) => false,
    }
}

fn parse(guard: &str) -> Option<Guard<'_>> {
    let guard = guard.trim();
    let Some(at) = guard.find(['<', '>', '=', '!']).filter(|at| *at > 0) else {
        let positive = guard.strip_prefix('!').or_else(|| guard.strip_prefix("not "));
        let name = parse_name(positive.unwrap_or(guard))?;
        return Some(Guard::Flag { name, is_negated: positive.is_some() });
    };
    let (name, rest) = guard.split_at(at);
    let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    let (name, constant) = (parse_name(name)?, rest[sign.len()..].trim());
    if let Some(number) = parse_number(constant) {
        return Some(Guard::Number { name, operator, number });
    }
    let text = ['"', '\''].into_iter().find_map(|quote| {
        constant.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains(quote))
    })?;
    (operator.less == operator.greater).then_some(Guard::Quoted { name, is_equal: operator.equal, text })
}

/// Returns the only word of a text. It has no operator, so that it has one value.
fn parse_name(text: &str) -> Option<&str> {
    let name = text.trim();
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    (is_word && name.starts_with(|c: char| c.is_alphabetic() || c == '_')).then_some(name)
}

/// Returns a decimal number in units of its last possible digit.
fn parse_number(text: &str) -> Option<i128> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |part: &str| {
        !part.is_empty() && part.len() <= DIGITS && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let number: i128 = format!("{whole}{fraction:0<DIGITS$}").parse().ok()?;
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::are_exclusive;

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        for (one, other) in [(one, other), (other, one)] {
            assert_eq!(are_exclusive(one, other), expected, "`{one}` and `{other}`");
        }
    }

    #[test]
    fn complementary_guards_exclude_each_other() {
        for (one, other) in [
            ("x > 1", "x <= 1"),
            ("x>1", "x<1"),
            ("x >= 0.5", "x < 0.50"),
            ("x = 1", "x == 2"),
            ("x == -1", "x != -1"),
            ("x < -1", "x >= -1"),
            ("state.size > 3", "state.size = 3"),
            ("paid", "not paid"),
            ("!paid", "paid"),
            ("kind == \"a\"", "kind = 'b'"),
            ("kind == 'a'", "kind != 'a'"),
        ] {
            check(one, other, true);
        }
    }

    /// Two comparisons exclude each other exactly if no value satisfies both.
    #[test]
    fn comparisons_exclude_each_other_without_common_value() {
        type Compare = fn(&i32, &i32) -> bool;
        let signs: [(&str, Compare); 6] = [
            ("<", i32::lt),
            ("<=", i32::le),
            (">", i32::gt),
            (">=", i32::ge),
            ("==", i32::eq),
            ("!=", i32::ne),
        ];
        for (one, compare_one) in signs {
            for (other, compare_other) in signs {
                for (a, b) in (-2..=2).flat_map(|a| (-2..=2).map(move |b| (a, b))) {
                    // In half units, so that a value between two constants occurs.
                    let has_common = (-6..=6)
                        .any(|value| compare_one(&value, &(2 * a)) && compare_other(&value, &(2 * b)));
                    check(&format!("x {one} {a}"), &format!("x {other} {b}"), !has_common);
                }
            }
        }
    }

    #[test]
    fn other_guards_may_hold_together() {
        for (one, other) in [
            ("x > 1", "x > 0"),
            ("x >= 1", "x <= 1"),
            ("x > 0", "x < 1"),
            ("x != 1", "x != 2"),
            ("x > 1", "y <= 1"),
            // The two names may be distinct.
            ("X > 1", "x <= 1"),
            ("x > 1", "x <= limit"),
            ("x > 1 or done", "x <= 1"),
            ("y or x > 1", "y or x <= 1"),
            ("roll() > 1", "roll() <= 1"),
            ("x > 9007199254740993", "x < 9007199254740994"),
            ("x == 1e3", "x == 1000"),
            ("x > 1.", "x <= 1."),
            ("x => 1", "x < 1"),
            ("a or b", "not a or b"),
            ("paid", "shipped"),
            ("paid", "paid"),
            ("not paid", "not paid"),
            ("kind == 'a'", "kind == 'A'"),
            ("kind == a", "kind == b"),
            ("kind > 'a'", "kind == 'a'"),
            ("kind == 'a' or 'b'", "kind == 'b'"),
            ("x = 1", "x = '1'"),
            ("", ""),
        ] {
            check(one, other, false);
        }
    }
}
