//! Scope files: the bounds and the alphabet of the models of `check`.
//!
//! A scope file states what differs from a named scope. With `open`, it defines one model that leaves exactly these parts to the
//! adversary; without, the standard models have its bounds.

mod format;

pub use format::{BaseScope, BoundsFile, CompactionBoundsFile, FailureName, OpenPart, ScopeFile};

use miette::SourceSpan;
use orchestrion_model::scopes::{Bounds, COMPOSED, MODELS, Model, SCOPES, Scope};
use orchestrion_report::text::sanitize;
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, schema_of, suggest_nearest};
use std::path::Path;

/// The most values in a list of confidences.
const CONFIDENCES_MAX: usize = 32;

/// A scope, and what its file says about it.
#[derive(Debug)]
pub struct ScopeChoice {
    /// The scope.
    pub scope: Scope,
    /// The file; `None` for a named scope.
    pub file: Option<ScopeSource>,
}

/// A scope file that was read.
#[derive(Debug)]
pub struct ScopeSource {
    source: Source,
    file: ScopeFile,
    /// The scope that the file extends.
    base: Scope,
    /// The model of the parts that the file leaves open.
    model: Option<Model>,
}

/// A setting of a scope file, and the scope and model without it.
pub struct Setting {
    /// The name of the setting, or the part that it opens.
    pub name: String,
    /// The place.
    pub span: Option<SourceSpan>,
    /// The scope without the setting.
    pub scope: Scope,
    /// The model without the part; `None` if the setting opens no part, or the only one.
    pub model: Option<Model>,
}

impl ScopeChoice {
    /// Returns the scope with this name, or reads the scope file at this path relative to `base_dir`.
    ///
    /// # Errors
    /// [`ReadError`] for an unknown name, and for a file that cannot be opened or is not valid.
    pub fn resolve(name_or_path: &str, base_dir: &Path) -> Result<Self, ReadError> {
        Self::ensure_exists(name_or_path, base_dir).map_err(LabeledError::into_file_error)?;
        match Scope::by_name(name_or_path) {
            Some(scope) => Ok(Self { scope, file: None }),
            None => Self::read(&base_dir.join(name_or_path)),
        }
    }

    /// Returns an error unless this is the name of a scope or the path of a file.
    ///
    /// # Errors
    /// A message without a place.
    pub fn ensure_exists(name_or_path: &str, base_dir: &Path) -> Result<(), LabeledError> {
        if Scope::by_name(name_or_path).is_some() || base_dir.join(name_or_path).is_file() {
            return Ok(());
        }
        let names = SCOPES.map(|scope| scope.name);
        let near = suggest_nearest(name_or_path, names.iter().map(|name| &**name));
        Err(LabeledError::new(
            format!("unknown scope `{}`: expected a name or a file", name_or_path.escape_debug()),
            format!("{near}write one of {}, or the path of a scope file", names.join(", ")),
        ))
    }

    fn read(path: &Path) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        let file: ScopeFile = source.parse()?;
        Self::from_file(&sanitize(&path.display().to_string()), source, file)
    }

    /// Reads a scope from a text. `name` is the path for reports and errors.
    ///
    /// # Errors
    /// [`ReadError`] if the text is no valid scope file.
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        let source = Source::from_text(name, text)?;
        let file = source.parse()?;
        Self::from_file(name, source, file)
    }

    fn from_file(name: &str, source: Source, file: ScopeFile) -> Result<Self, ReadError> {
        let base = file.extends.map_or(SCOPES[0].clone(), |base| SCOPES[base.0.0].clone());
        let built = validate(&file).and_then(|()| {
            let mut scope = file.scope(&base)?;
            scope.name = name.to_owned().into();
            let model = file.model();
            validate_effects(&file, &base, model)?;
            Ok((scope, model))
        });
        match built {
            Ok((scope, model)) => Ok(Self { scope, file: Some(ScopeSource { source, file, base, model }) }),
            Err(error) => Err(ReadError::in_source(&source, error)),
        }
    }

    /// Returns the model of the parts that the file leaves open, if it names any.
    #[must_use]
    pub fn model(&self) -> Option<Model> {
        self.file.as_ref().and_then(|file| file.model)
    }

    /// Returns the model of the file, as [`model`](Self::model). `option` is the option that names models, if the user gave it.
    ///
    /// # Errors
    /// [`ReadError`] if both the file and the option define what to check.
    pub fn only_model(&self, option: Option<&str>) -> Result<Option<Model>, ReadError> {
        let (Some(file), Some(option), Some(_)) = (&self.file, option, self.model()) else {
            return Ok(self.model());
        };
        let error = LabeledError::new(
            format!("{option} has no effect: this scope file defines the one model to check"),
            format!("remove {option}, or remove `open` from the file"),
        );
        Err(file.error(error.with_label(file.open_span(), "defines a model")))
    }
}

impl ScopeSource {
    /// Returns the place of the list of open parts.
    #[must_use]
    pub fn open_span(&self) -> Option<SourceSpan> {
        self.file.open.as_ref().and_then(Spanned::span)
    }

    /// Whether the models that the scope bounds may be larger than those of the scope that the file extends.
    #[must_use]
    pub fn changes(&self, scope: &Scope, model: Model) -> bool {
        let reads_confidences = model.free.debate && scope.alphabet.confidences.is_some();
        let reads_failures =
            (model.free.failures || model.free.workflow) && scope.alphabet.failures.is_some();
        let same = scope.bounds.read_by(model) == self.base.bounds.read_by(model);
        self.model.is_some() || model == COMPOSED || !same || reads_confidences || reads_failures
    }

    /// Returns every setting that adds states: parts, lists, and bounds that differ from those of the extended scope.
    #[must_use]
    pub fn settings(&self, scope: &Scope) -> Vec<Setting> {
        let mut settings = Vec::new();
        let parts = self.file.open.iter().flat_map(|open| &open.value);
        for part in parts {
            let others = self.file.parts().filter(|other| other.name != part.value.0.part().name);
            let others: Vec<_> = others.collect();
            settings.push(Setting {
                name: format!("the part `{}`", part.value.0.part().name),
                span: part.span(),
                scope: scope.clone(),
                model: (!others.is_empty()).then(|| Model::of_parts(&others)),
            });
        }
        let mut without = |name: &str, span: Option<SourceSpan>, scope: Scope| {
            settings.push(Setting { name: format!("`{name}`"), span, scope, model: self.model });
        };
        if let Some(list) = &self.file.confidences {
            let mut scope = scope.clone();
            scope.alphabet.confidences = None;
            without("confidences", list.span(), scope);
        }
        if let Some(list) = &self.file.failures {
            let mut scope = scope.clone();
            scope.alphabet.failures = None;
            without("failures", list.span(), scope);
        }
        for (name, span, restore) in self.file.bounds.as_ref().map(BoundsFile::settings).unwrap_or_default() {
            let mut scope = scope.clone();
            restore(&mut scope.bounds, &self.base.bounds);
            without(name, span, scope);
        }
        settings
    }

    /// Returns an error in this file.
    #[must_use]
    pub fn error(&self, error: LabeledError) -> ReadError {
        ReadError::in_source(&self.source, error)
    }
}

/// Checks the lists.
fn validate(file: &ScopeFile) -> Result<(), LabeledError> {
    let names: Vec<&str> = OpenPart::names().collect();
    ensure_list(
        file.open.as_ref(),
        "with nothing open, the system has a single run",
        &format!("name one or more of {}; or remove `open` to check the standard models", names.join(", ")),
    )?;
    ensure_list(
        file.confidences.as_ref(),
        "no argument is possible without a confidence",
        "list numbers from 0 to 1, such as [0, 0.7, 1]; or remove `confidences`, and every threshold has its neighbours",
    )?;
    ensure_list(
        file.failures.as_ref(),
        "no call can fail without a failure",
        "list some of error, timeout, malformed, no_candidates, unknown; or remove `failures`, and leave this part out of `open`",
    )?;
    if let Some(list) = &file.confidences
        && list.value.len() > CONFIDENCES_MAX
    {
        return Err(LabeledError::new(
            format!("expected at most {CONFIDENCES_MAX} confidences, found {}", list.value.len()),
            "each one multiplies the arguments of five roles; keep one on each side of every threshold",
        )
        .with_label(list.span(), "too many"));
    }
    Ok(())
}

/// Returns an error for an empty list, and for a repeated entry.
fn ensure_list<T: PartialEq>(
    list: Option<&Spanned<Vec<Spanned<T>>>>,
    reason: &str,
    help: &str,
) -> Result<(), LabeledError> {
    let Some(list) = list else { return Ok(()) };
    if list.value.is_empty() {
        let message = format!("expected at least one entry, found an empty list: {reason}");
        return Err(LabeledError::new(message, help).with_label(list.span(), "empty"));
    }
    for (position, entry) in list.value.iter().enumerate() {
        let earlier = list.value.iter().take(position).find(|earlier| earlier.value == entry.value);
        if let Some(earlier) = earlier {
            return Err(LabeledError::new("duplicate entry", "remove one of the two")
                .with_label(earlier.span(), "first")
                .with_label(entry.span(), "second"));
        }
    }
    Ok(())
}

/// Returns an error for a setting that nothing reads: with `open`, its model; without, any model.
fn validate_effects(file: &ScopeFile, base: &Scope, model: Option<Model>) -> Result<(), LabeledError> {
    let models: Vec<Model> = model.map_or_else(|| MODELS.to_vec(), |model| vec![model]);
    let unread = |name: &str, span: Option<SourceSpan>, reader: &str| {
        LabeledError::new(
            format!("`{name}` has no effect: no part that is open reads it"),
            format!("remove it, or {reader}"),
        )
        .with_label(span, "no effect")
    };
    let is_read = |reads: fn(&Model) -> bool| models.iter().any(reads);
    if let Some(list) = &file.confidences
        && !is_read(|model| model.free.debate)
    {
        return Err(unread("confidences", list.span(), "add `debate` to `open`"));
    }
    if let Some(list) = &file.failures
        && !is_read(|model| model.free.failures || model.free.workflow)
    {
        return Err(unread("failures", list.span(), "add `failures` to `open`"));
    }
    for (name, span, restore) in file.bounds.as_ref().map(BoundsFile::settings).unwrap_or_default() {
        // A model reads a bound if another value of it is another size.
        let reads = |model: &Model| {
            let (mut one, mut other) = (base.bounds, base.bounds);
            restore(&mut one, &UNLIKE[0]);
            restore(&mut other, &UNLIKE[1]);
            one.read_by(*model) != other.read_by(*model)
        };
        if !models.iter().any(reads) {
            let readers: Vec<&str> = OpenPart::all()
                .filter(|part| reads(&Model::of_parts(&[part.part()])))
                .map(|part| part.part().name)
                .collect();
            let reader = match &readers[..] {
                [] => "remove `open` to check the standard models".to_owned(),
                names => format!("add to `open`: {}", names.join(" or ")),
            };
            return Err(unread(name, span, &reader));
        }
    }
    Ok(())
}

/// Two bounds that differ in every field.
static UNLIKE: std::sync::LazyLock<[Bounds; 2]> = std::sync::LazyLock::new(format::unlike_bounds);

/// Returns the JSON Schema of scope files.
#[must_use]
pub fn scope_schema() -> serde_json::Value {
    schema_of::<ScopeFile>("Orchestrion scope")
}

#[cfg(test)]
mod tests;
