//! Conversion between values of a file and values of the kernel.

use crate::policy_file::EnumName;
use crate::timestamp::TimeText;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, MemoryType, Rank, Scope, SupersessionRule};
use orchestrion_kernel::knowledge::Reference;
use orchestrion_kernel::situation::{Mode, SummaryUpdate, ToolOutcome};
use orchestrion_kernel::{ConversationId, ItemId, RequestId, Score, Text};
use orchestrion_yaml::{Decimal, LabeledError, MeasuredScore, Spanned, StrictText};
use std::collections::BTreeMap;

/// A value of a file that has a counterpart in the kernel.
pub(crate) trait FileValue<K>: Sized {
    /// Returns the kernel's value.
    ///
    /// # Errors
    /// [`LabeledError`] for a plan that the kernel does not accept.
    fn to_kernel(&self) -> Result<K, LabeledError>;

    /// Returns the file's value; `None` for a value that a file cannot express.
    fn from_kernel(value: &K) -> Option<Self>;
}

/// Implements [`FileValue`] for structs of a file. Each side of an equation is the pattern of one direction and the result of
/// the other; the fields of the left side are converted.
macro_rules! convert {
    ($($file:ident { $($bound:ident),* }
        = $kernel:ident $(:: $variant:ident)? { $($field:tt)* } $(else $none:ident)?;)*) => {$(
        impl FileValue<$kernel> for $file {
            fn to_kernel(&self) -> Result<$kernel, LabeledError> {
                let Self { $($bound),* } = self;
                $(let $bound = FileValue::to_kernel($bound)?;)*
                Ok($kernel $(:: $variant)? { $($field)* })
            }

            fn from_kernel(value: &$kernel) -> Option<Self> {
                match value {
                    $kernel $(:: $variant)? { $($field)* } => {
                        Some(Self { $($bound: FileValue::from_kernel($bound)?),* })
                    }
                    $(_ => $none,)?
                }
            }
        }
    )*};
}
pub(crate) use convert;

/// Implements [`FileValue`] for single values: the function in each direction.
macro_rules! values {
    ($($file:ty = $kernel:ty: $to_kernel:expr, $from_kernel:expr;)*) => {$(
        impl FileValue<$kernel> for $file {
            fn to_kernel(&self) -> Result<$kernel, LabeledError> {
                let convert: fn(&Self) -> $kernel = $to_kernel;
                Ok(convert(self))
            }

            fn from_kernel(value: &$kernel) -> Option<Self> {
                let convert: fn(&$kernel) -> Option<Self> = $from_kernel;
                convert(value)
            }
        }
    )*};
}

pub(crate) use values;

values! {
    StrictText = Text: Self::text, |text| Some(text.clone().into());
    StrictText = ConversationId: |text| ConversationId::new(text.text()), |id| Some(id.as_str().into());
    StrictText = Reference: |key| Reference::Key(key.text()), |reference| match reference {
        Reference::Key(key) => Some(key.clone().into()),
        Reference::Id(_) => None,
    };
    Decimal<Score> = Score: |number| number.0, |score| Some(Self(*score));
    MeasuredScore = Score: |number| number.0, |score| Some(Self(*score));
    EnumName<Rank> = Rank: |name| name.0, |rank| Some(Self(*rank));
    u32 = RequestId: |number| RequestId::new(*number), |id| Some(id.number());
    u64 = ItemId: |number| ItemId::new(*number), |id| Some(id.number());
    TimeText = Timestamp: |time| time.0, |time| Some(Self(*time));
    BTreeMap<String, StrictText> = SummaryUpdate:
        |fields| SummaryUpdate(fields.iter().map(|(field, text)| (field.clone(), text.text())).collect()),
        |update| FileValue::from_kernel(&update.0);
}

/// Implements [`FileValue`] for types that a file and the kernel share.
macro_rules! shared {
    ($($shared:ty)*) => {
        values! { $($shared = $shared: Self::clone, |value| Some(value.clone());)* }
    };
}

shared! { bool u32 i32 Audience MemoryType Mode Scope SupersessionRule ToolOutcome }

impl<K, T: FileValue<K>> FileValue<Option<K>> for Option<T> {
    fn to_kernel(&self) -> Result<Option<K>, LabeledError> {
        self.as_ref().map(T::to_kernel).transpose()
    }
    fn from_kernel(value: &Option<K>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(value) => T::from_kernel(value).map(Some),
        }
    }
}

impl<K, T: FileValue<K>> FileValue<Vec<K>> for Vec<T> {
    fn to_kernel(&self) -> Result<Vec<K>, LabeledError> {
        self.iter().map(T::to_kernel).collect()
    }
    fn from_kernel(values: &Vec<K>) -> Option<Self> {
        values.iter().map(T::from_kernel).collect()
    }
}

impl<K, T: FileValue<K>> FileValue<BTreeMap<String, K>> for BTreeMap<String, T> {
    fn to_kernel(&self) -> Result<BTreeMap<String, K>, LabeledError> {
        self.iter().map(|(name, value)| Ok((name.clone(), value.to_kernel()?))).collect()
    }
    fn from_kernel(values: &BTreeMap<String, K>) -> Option<Self> {
        values.iter().map(|(name, value)| Some((name.clone(), T::from_kernel(value)?))).collect()
    }
}

impl<K, T: FileValue<K>> FileValue<Box<K>> for Box<Spanned<T>> {
    fn to_kernel(&self) -> Result<Box<K>, LabeledError> {
        self.value.to_kernel().map(Box::new)
    }
    fn from_kernel(value: &Box<K>) -> Option<Self> {
        T::from_kernel(value).map(|value| Self::new(value.into()))
    }
}
