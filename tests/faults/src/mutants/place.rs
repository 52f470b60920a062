//! Where the code of a mutant lies in the syntax tree, and so how a switch is written around it.

use super::list::{Genre, Mutant};
use std::collections::BTreeMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// How the alternatives of a place are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceKind {
    /// Before the first statement of a body: `if on(1) { return ALTERNATIVE; }`.
    Body,
    /// The pattern of an arm without a guard gets one: `!on(1)`.
    Pattern,
    /// The guard of an arm: `!on(1) && (GUARD)`.
    Guard,
    /// An expression: `(if on(1) { ALTERNATIVE } else { EXPRESSION })`.
    Expression,
}

/// The place of a switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// How the alternatives are written.
    pub kind: PlaceKind,
}

/// A function that is `const`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstFunction {
    /// The name, without the type or module.
    pub name: String,
    /// The bytes of `const` and the space after it.
    pub token: Range<usize>,
    /// The bytes of the function.
    pub all: Range<usize>,
}

/// The places of a source text.
#[derive(Debug)]
pub struct Places<'a> {
    source: &'a str,
    /// Of binary expressions, by the start of the operator.
    binary: BTreeMap<usize, Binary>,
    /// Of unary expressions, by their start: the expression and its operand.
    unary: BTreeMap<usize, (Range<usize>, Range<usize>)>,
    /// Of arms, by their start: the pattern and the guard.
    arms: BTreeMap<usize, (Range<usize>, Option<Range<usize>>)>,
    /// Of struct expressions with a base, by the start of a field.
    fields: BTreeMap<usize, Range<usize>>,
    /// All functions that are `const`.
    pub constant_functions: Vec<ConstFunction>,
}

#[derive(Debug)]
struct Binary {
    all: Range<usize>,
    operator: Range<usize>,
    /// `a && let B = c` is no expression that can have parentheses.
    has_let: bool,
}

impl<'a> Places<'a> {
    /// Reads a source text.
    ///
    /// # Errors
    /// It is not Rust.
    pub fn read(source: &'a str) -> syn::Result<Self> {
        let mut places = Self {
            source,
            binary: BTreeMap::new(),
            unary: BTreeMap::new(),
            arms: BTreeMap::new(),
            fields: BTreeMap::new(),
            constant_functions: Vec::new(),
        };
        places.visit_file(&syn::parse_file(source)?);
        Ok(places)
    }

    /// The source text.
    #[must_use]
    pub const fn source(&self) -> &str {
        self.source
    }

    /// Returns the place of a mutant and the code of its alternative; `None` if no switch can be written there.
    #[must_use]
    pub fn place(&self, mutant: &Mutant) -> Option<(Place, String)> {
        let place = &mutant.place;
        let text = |range: &Range<usize>| self.source.get(range.clone());
        let expression = |range: &Range<usize>, alternative: String| {
            let place = Place { start: range.start, end: range.end, kind: PlaceKind::Expression };
            Some((place, alternative))
        };
        match mutant.genre {
            Genre::FnValue => {
                let place = Place { start: place.start, end: place.start, kind: PlaceKind::Body };
                Some((place, mutant.replacement.clone()))
            }
            Genre::MatchArmGuard => expression(place, mutant.replacement.clone()),
            Genre::BinaryOperator => {
                let Binary { all, operator, has_let } = self.binary.get(&place.start)?;
                let (before, after) = (text(&(all.start..operator.start))?, text(&(operator.end..all.end))?);
                (!has_let).then_some(())?;
                expression(all, format!("{before}{}{after}", mutant.replacement))
            }
            Genre::UnaryOperator => {
                let (all, operand) = self.unary.get(&place.start)?;
                expression(all, text(operand)?.to_owned())
            }
            Genre::StructField => {
                let all = self.fields.get(&place.start)?;
                // With the comma, if the listed place does not have it.
                let after = text(&(place.end..all.end))?;
                let after = after.trim_start().strip_prefix(',').unwrap_or(after);
                expression(all, format!("{}{after}", text(&(all.start..place.start))?))
            }
            Genre::MatchArm => {
                let (range, kind) = match self.arms.get(&place.start)? {
                    (_, Some(guard)) => (guard, PlaceKind::Guard),
                    (pattern, None) => (pattern, PlaceKind::Pattern),
                };
                Some((Place { start: range.start, end: range.end, kind }, String::new()))
            }
        }
    }
}

fn range(node: &impl Spanned) -> Range<usize> {
    bytes(node.span())
}

/// The bytes of the source: the feature `span-locations` of this crate keeps them.
fn bytes(span: proc_macro2::Span) -> Range<usize> {
    span.byte_range()
}

fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl Places<'_> {
    fn constant_function(&mut self, signature: &syn::Signature, all: Range<usize>) {
        if let Some(token) = &signature.constness {
            let start = range(token).start;
            let name = signature.ident.to_string();
            self.constant_functions.push(ConstFunction { name, token: start..start + "const ".len(), all });
        }
    }
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let has_let = has_let(&node.left) || has_let(&node.right);
        let operator = range(&node.op);
        self.binary.insert(operator.start, Binary { all: range(node), operator, has_let });
        syn::visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        self.unary.insert(range(node).start, (range(node), range(&*node.expr)));
        syn::visit::visit_expr_unary(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        let guard = node.guard.as_ref().map(|(_, guard)| range(&**guard));
        self.arms.insert(range(node).start, (range(&node.pat), guard));
        syn::visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        for field in &node.fields {
            self.fields.insert(range(field).start, range(node));
        }
        syn::visit::visit_expr_struct(self, node);
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.constant_function(&node.sig, range(node));
        syn::visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.constant_function(&node.sig, range(node));
        syn::visit::visit_impl_item_fn(self, node);
    }
}
