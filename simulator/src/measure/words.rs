//! Temporary: the kernel's words.
use orchestrion_kernel::Score;
pub trait Measure {
    fn tokens(&self, text: &str) -> u64;
    fn relevance(&self, request: &str, texts: &[&str]) -> Vec<Score>;
}
pub struct Plain;
impl Measure for Plain {
    fn tokens(&self, text: &str) -> u64 {
        text.len().div_ceil(4) as u64
    }
    fn relevance(&self, _: &str, t: &[&str]) -> Vec<Score> {
        vec![Score::ZERO; t.len()]
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    Bytes,
    Cl100kBase,
    O200kBase,
}
impl Tokenizer {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
        }
    }
}
