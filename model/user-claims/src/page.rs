//! The page of events and fields.

use crate::event_kind::EventKind;
use crate::fields::FIELDS;
use std::fmt::Write as _;

/// Returns the page in Markdown.
#[must_use]
pub fn fields_page() -> String {
    let mut page =
        String::from("# Fields of claims\n\nA claim file matches events by their kind and their fields.\n\n");
    page.push_str("## Events\n\n| event | when | fields |\n|---|---|---|\n");
    for kind in EventKind::ALL {
        let of_kind = FIELDS.iter().filter(|field| !field.events.is_empty() && field.is_of(*kind));
        let fields = of_kind.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(page, "| `{}` | {} | {fields} |", kind.name(), kind.meaning());
    }
    page.push_str("\n## Fields of events\n\n| field | content | meaning |\n|---|---|---|\n");
    let row = |page: &mut String, field: &crate::Field| {
        let _ = writeln!(page, "| `{}` | {} | {} |", field.name, field.kind.describe(), field.meaning);
    };
    FIELDS.iter().filter(|field| !field.events.is_empty()).for_each(|field| row(&mut page, field));
    page.push_str(
        "\n## Fields of the running request\n\nEvery event has them. They describe the request after the event.\n\n\
         | field | content | meaning |\n|---|---|---|\n",
    );
    FIELDS.iter().filter(|field| field.events.is_empty()).for_each(|field| row(&mut page, field));
    page
}
