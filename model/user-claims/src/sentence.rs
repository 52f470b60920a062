//! Claims as sentences.

use crate::claim::{SegmentRule, Window};
use crate::condition::{Condition, Test};
use crate::enforcement::Enforcement;
use crate::fields::{Field, FieldKind};
use crate::matcher::Matcher;
use crate::pattern::Pattern;
use crate::value::KeptValue;

/// The claim as one sentence.
pub(crate) fn sentence(
    enforcement: Enforcement,
    window: Window,
    segment: &SegmentRule,
    assume: Option<&Pattern>,
    pattern: &Pattern,
) -> String {
    let window = match window {
        Window::Request => "In every request",
        Window::Session => "In every session",
        Window::Conversation => "In the conversation",
    };
    let part = match segment {
        SegmentRule::All | SegmentRule::Part { after: None, before: None, .. } => String::new(),
        SegmentRule::Part { after: Some(after), before: None, .. } => format!(", after {}", one(after)),
        SegmentRule::Part { after: None, before: Some(before), .. } => format!(", before {}", one(before)),
        SegmentRule::Part { after: Some(after), before: Some(before), needs_end: false } => {
            format!(", after {} and before {}", one(after), one(before))
        }
        SegmentRule::Part { after: Some(after), before: Some(before), needs_end: true } => {
            format!(", between {} and {}", one(after), one(before))
        }
    };
    let assume = assume.map_or_else(String::new, |assume| format!(" if {},", clause(assume)));
    let enforced = match enforcement {
        Enforcement::None => "",
        Enforcement::Shadow => " A call that would violate this is reported.",
        Enforcement::Enforced => " A call that would violate this is not made.",
    };
    format!("{window}{part}:{assume} {}.{enforced}", clause(pattern))
}

fn clause(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Never(matcher) => format!("no {} occurs", noun(matcher)),
        Pattern::Always { at, holds } => format!("at every {}, {}", noun(at), conditions(holds)),
        Pattern::Precedes { first, then, same } => {
            format!("every {} is preceded by {}{}", noun(then), one(first), with_same(same))
        }
        Pattern::Responds { to, with, same } => {
            format!("every {} is followed by {}{}", noun(to), one(with), with_same(same))
        }
        Pattern::AtMost { limit, of, each, sum } => {
            let each = match names(each) {
                names if names.is_empty() => String::new(),
                names => format!(" for each {names}"),
            };
            match sum {
                Some(field) => {
                    let limit = value(field, &KeptValue::Number(*limit));
                    format!("the sum of {} over every {} is at most {limit}{each}", field.name, noun(of))
                }
                None => format!("{} occurs at most {}{each}", one(of), times(*limit)),
            }
        }
        Pattern::AtLeast { count, of } => format!("{} occurs at least {}", one(of), times(i64::from(*count))),
        Pattern::Until { holds, end } => {
            format!("{} at every event until {} occurs, and it occurs", conditions(holds), one(end))
        }
    }
}

fn times(count: i64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

/// An event that a matcher means, with its article.
fn one(matcher: &Matcher) -> String {
    let noun = noun(matcher);
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    // "a user_msg": a consonant is spoken.
    let article = if noun.starts_with("user") { "a" } else { article };
    format!("{article} {noun}")
}

/// An event that a matcher means, without an article.
fn noun(matcher: &Matcher) -> String {
    let kinds: Vec<&str> = match matcher.names_kinds {
        true => matcher.kinds.iter().map(|kind| kind.name()).collect(),
        false => vec!["event"],
    };
    let conditions = matcher.conditions.iter().map(|condition| format!("whose {}", test(condition)));
    let conditions: Vec<String> = conditions.collect();
    let kinds = either(&kinds);
    let noun = if matcher.names_kinds { format!("{kinds} event") } else { kinds };
    if conditions.is_empty() { noun } else { format!("{noun} {}", conditions.join(" and ")) }
}

/// The conditions of a matcher as clauses.
fn conditions(matcher: &Matcher) -> String {
    let kinds: Vec<&str> = matcher.kinds.iter().map(|kind| kind.name()).collect();
    let kind = matcher.names_kinds.then(|| format!("the event is {}", either(&kinds)));
    let tests = matcher.conditions.iter().map(test);
    kind.into_iter().chain(tests).collect::<Vec<_>>().join(" and ")
}

fn test(Condition { field, tests }: &Condition) -> String {
    let each = |test: &Test| match test {
        Test::OneOf(values) => format!("is {}", either(&texts(field, values))),
        Test::NoneOf(values) => format!("is not {}", either(&texts(field, values))),
        Test::AtLeast(least) => format!("is at least {}", value(field, &KeptValue::Number(*least))),
        Test::AtMost(most) => format!("is at most {}", value(field, &KeptValue::Number(*most))),
        Test::Contains(part) => format!("contains {part:?}"),
        Test::StartsWith(part) => format!("starts with {part:?}"),
    };
    format!("{} {}", field.name, tests.iter().map(each).collect::<Vec<_>>().join(" and "))
}

fn texts(field: &Field, values: &[KeptValue]) -> Vec<String> {
    values.iter().map(|known| value(field, known)).collect()
}

/// A value as the file writes it.
pub(crate) fn value(field: &Field, value: &KeptValue) -> String {
    match (value, field.kind) {
        (KeptValue::Absent, _) => "absent".to_owned(),
        (KeptValue::Flag(flag), _) => flag.to_string(),
        (KeptValue::Number(millionths), FieldKind::Score) => {
            let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
            let text = format!("{whole}.{part:06}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        (KeptValue::Number(number), _) => number.to_string(),
        (KeptValue::Name(name), _) => (*name).to_owned(),
        (KeptValue::Text(text), _) => format!("{:?}", text.as_str()),
    }
}

fn either<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" or ")
}

fn names(fields: &[&'static Field]) -> String {
    fields.iter().map(|field| field.name).collect::<Vec<_>>().join(" and ")
}

fn with_same(fields: &[&'static Field]) -> String {
    match names(fields) {
        names if names.is_empty() => String::new(),
        names => format!(" with the same {names}"),
    }
}
