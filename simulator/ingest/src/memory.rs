//! Memory types of sources (003, memory type classification).

use orchestrion_kernel::item::MemoryType;

/// Returns the memory type of a source; the user's for a source outside the table.
#[must_use]
pub fn memory_of_source(source: &str) -> MemoryType {
    match source {
        "policy" | "system" | "finance_system" | "hr_system" | "document" => MemoryType::Organizational,
        "observation" | "pattern" | "heuristic" => MemoryType::Capability,
        _ => MemoryType::User,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 003-2.15.
    #[test]
    fn sources_have_memory_types() {
        let has_type = |memory, sources: &[&str]| {
            for source in sources {
                assert_eq!(memory_of_source(source), memory, "{source}");
            }
        };
        has_type(MemoryType::Organizational, &["policy", "finance_system", "hr_system"]);
        has_type(MemoryType::Capability, &["observation", "pattern", "heuristic"]);
        has_type(MemoryType::User, &["decision", "user", "preference", "another source"]);
    }
}
