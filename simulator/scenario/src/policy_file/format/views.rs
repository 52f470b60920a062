//! What single modules are shown differently, as a policy file has it.

use super::NamedEnum;
use orchestrion_kernel::Weight;
use orchestrion_kernel::item::Topic;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{ContextPolicy, ModuleContextPolicy};
use orchestrion_yaml::{Decimal, LabeledError, Spanned, nearest, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Values by the names of what they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByName<K, V>(pub BTreeMap<K, V>);

/// What one module is shown differently.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewFile {
    /// The tokens of a context of its own and of the answer to it.
    #[serde(default, deserialize_with = "required_value")]
    pub budget: Option<u32>,
    /// How much what is worth to it, from 0 to 1000. What is worth nothing is shown only where something shown rests on it.
    #[serde(default, deserialize_with = "required_value")]
    pub weights: Option<ByName<Topic, Decimal<Weight>>>,
}

impl ByName<Module, ViewFile> {
    pub(super) fn lay_over(&self, onto: &mut ContextPolicy) {
        for (module, file) in &self.0 {
            let at =
                onto.module_overrides.iter().position(|view| view.module == *module).unwrap_or_else(|| {
                    onto.module_overrides.push(ModuleContextPolicy {
                        module: *module,
                        budget_tokens: None,
                        weights: BTreeMap::new(),
                    });
                    onto.module_overrides.len() - 1
                });
            let view = &mut onto.module_overrides[at];
            view.budget_tokens = file.budget.or(view.budget_tokens);
            let weights = file.weights.iter().flat_map(|weights| &weights.0);
            view.weights.extend(weights.map(|(topic, weight)| (*topic, weight.0)));
        }
        onto.module_overrides.sort_by_key(|view| view.module);
    }
}

/// A view as it is written.
pub(in super::super) fn written(view: &ModuleContextPolicy) -> String {
    let budget = view.budget_tokens.map(|budget| format!("budget: {budget}"));
    let weights: Vec<String> =
        view.weights.iter().map(|(topic, weight)| format!("{topic}: {weight}")).collect();
    let weights = (!weights.is_empty()).then(|| format!("weights: {{{}}}", weights.join(", ")));
    format!("{{{}}}", budget.into_iter().chain(weights).collect::<Vec<_>>().join(", "))
}

impl NamedEnum for Module {
    const ALL: &'static [Self] = &Self::ALL;
    const SCHEMA: &'static str = "Module";

    fn name(self) -> &'static str {
        self.name()
    }

    fn unknown(name: &str) -> String {
        format!("there is no module `{name}`")
    }
}

impl NamedEnum for Topic {
    const ALL: &'static [Self] = &Self::ALL;
    const SCHEMA: &'static str = "Topic";

    fn name(self) -> &'static str {
        self.name()
    }

    fn unknown(name: &str) -> String {
        format!("no item speaks of `{name}`")
    }
}

impl<'de, K: NamedEnum + Ord, V: Deserialize<'de>> Deserialize<'de> for ByName<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamesVisitor(PhantomData))
    }
}

struct NamesVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: NamedEnum + Ord, V: Deserialize<'de>> Visitor<'de> for NamesVisitor<K, V> {
    type Value = ByName<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let Some(known) = K::ALL.iter().find(|known| known.name() == key.value) else {
                let names: Vec<&str> = K::ALL.iter().map(|known| known.name()).collect();
                let near = nearest(&key.value, names.iter().copied());
                return Err(LabeledError::new(
                    K::unknown(&key.value.escape_debug().to_string()),
                    format!("{near}the names are {}", names.join(", ")),
                )
                .at(key.span(), "unknown")
                .into_serde_error());
            };
            if values.insert(*known, map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(known.name()));
            }
        }
        Ok(ByName(values))
    }
}

impl<K: NamedEnum, V: JsonSchema> JsonSchema for ByName<K, V> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}By{}", V::schema_name(), K::SCHEMA).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<V>();
        let properties: serde_json::Map<_, _> =
            K::ALL.iter().map(|known| (known.name().to_owned(), value.clone().into())).collect();
        json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
    }
}
