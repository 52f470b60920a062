//! The words of a command: positional arguments and `name=value`.

use orchestrion_kernel::ItemId;
use orchestrion_kernel::knowledge::Reference;
use serde::Deserialize;
use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, StrDeserializer};
use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

/// The arguments of a command. A command takes those that it knows; [`Arguments::finish`] rejects the others.
#[derive(Default)]
pub(crate) struct Arguments {
    words: VecDeque<String>,
    fields: BTreeMap<String, String>,
    known: Vec<&'static str>,
}

impl Arguments {
    /// Splits a line into words. A line contains one command, or several with `;` between them.
    pub(crate) fn parse_line(line: &str) -> Result<Vec<Self>, String> {
        let mut commands = vec![Self::default()];
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            if let Some(next) = rest.strip_prefix(';') {
                commands.push(Self::default());
                rest = next.trim_start();
                continue;
            }
            let (name, value, end) = parse_word(rest)?;
            rest = rest[end..].trim_start();
            let Some(command) = commands.last_mut() else { continue };
            match name {
                None => command.words.push_back(value),
                Some(name) if command.fields.contains_key(&name) => {
                    return Err(format!("duplicate argument `{name}`"));
                }
                Some(name) => drop(command.fields.insert(name, value)),
            }
        }
        Ok(commands)
    }

    /// Takes the next positional argument, if there is one.
    pub(crate) fn next_optional(&mut self) -> Option<String> {
        self.words.pop_front()
    }

    /// Takes the next positional argument.
    pub(crate) fn next(&mut self, name: &str) -> Result<String, String> {
        self.next_optional().ok_or_else(|| format!("missing argument: expected {name}"))
    }

    /// Takes a field and parses it.
    pub(crate) fn field<T>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.known.push(name);
        let field = self.fields.remove(name);
        field
            .map(|text| parse(&text).map_err(|error| format!("invalid {name} `{text}`: {error}")))
            .transpose()
    }

    /// Takes the fields with this prefix, without it.
    pub(crate) fn fields_with_prefix(&mut self, prefix: &'static str) -> BTreeMap<String, String> {
        self.known.push(prefix);
        let (taken, rest): (BTreeMap<_, _>, _) =
            std::mem::take(&mut self.fields).into_iter().partition(|(name, _)| name.starts_with(prefix));
        self.fields = rest;
        taken.into_iter().map(|(name, value)| (name[prefix.len()..].to_owned(), value)).collect()
    }

    /// Rejects the arguments that the command did not take.
    pub(crate) fn finish(self) -> Result<(), String> {
        match (self.words.front(), self.fields.keys().next()) {
            (Some(word), _) => Err(format!("unexpected argument `{word}`")),
            (_, Some(name)) => Err(format!("unknown argument `{name}`: expected {}", self.known.join(", "))),
            (None, None) => Ok(()),
        }
    }
}

/// Parses the first word. Returns its name, if it is `name=value`, its value, and its length.
fn parse_word(line: &str) -> Result<(Option<String>, String, usize), String> {
    let (mut name, mut value) = (None, String::new());
    let mut position = 0;
    while let Some(c) = line[position..].chars().next().filter(|c| !c.is_whitespace() && *c != ';') {
        position += c.len_utf8();
        match c {
            '=' if name.is_none() => name = Some(std::mem::take(&mut value)),
            '"' => {
                let (text, end) =
                    line[position..].split_once('"').ok_or("unterminated text: expected `\"`")?;
                position += text.len() + 1;
                let digits = end.strip_prefix('*').map(|end| end.split(|c: char| !c.is_ascii_digit()));
                let count = digits.and_then(|mut parts| parts.next());
                position += count.map_or(0, |count| count.len() + 1);
                value.push_str(&text.replace("\\t", "\t").repeat(count.map_or(Ok(1), parse_value)?));
            }
            c => value.push(c),
        }
    }
    Ok((name, value, position))
}

/// Parses a variant by its name in files. `name:value` is a variant with one value.
pub(crate) fn parse_variant<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    let parsed: Result<T, Error> = match text.split_once(':') {
        None => T::deserialize(StrDeserializer::new(text)),
        Some(pair) => T::deserialize(MapAccessDeserializer::new(MapDeserializer::new([pair].into_iter()))),
    };
    parsed.map_err(|error| error.to_string())
}

pub(crate) fn parse_value<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {}", std::any::type_name::<T>()))
}

pub(crate) fn parse_text<T: for<'a> From<&'a str>>(text: &str) -> Result<T, String> {
    Ok(text.into())
}

/// Parses values with commas between them.
pub(crate) fn parse_list<T>(
    parse: impl Fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Vec<T>, String> {
    move |text| text.split(',').filter(|text| !text.is_empty()).map(&parse).collect()
}

/// Parses `#4` as the id of an item.
pub(crate) fn parse_id(text: &str) -> Result<ItemId, String> {
    parse_value(text.strip_prefix('#').ok_or("expected #NUMBER")?).map(ItemId::new)
}

/// Parses an id or a key.
pub(crate) fn parse_reference(text: &str) -> Result<Reference, String> {
    if text.starts_with('#') { parse_id(text).map(Reference::Id) } else { Ok(Reference::Key(text.into())) }
}
