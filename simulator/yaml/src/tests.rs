//! The tree against the library's own streaming deserializer.

use crate::{Source, Spanned};
use serde_json::Value;

const DOCUMENTS: &[&str] = &[
    "a: 1\nb: [x, 'y', \"z\"]\nc: {d: true, e: ~, f: }\n",
    "- 0x1F\n- 0o17\n- 1e3\n- .5\n- -7\n- +5\n- 18446744073709551615\n- 0.850\n",
    "text: |\n  two\n  lines\nfolded: >\n  one\n  line\nplain: several\n  lines\n",
    "ключ: значение # comment\nпосле: 12.50   # comment\nпотом: false\n",
    "{\"json\": [1, -2, 3.5, null, true, \"text\", {}, []]}",
    "007: octal\nyes: maybe\n12: twelve\n",
];

#[test]
fn tree_has_the_values_of_the_streaming_deserializer() {
    for text in DOCUMENTS {
        let expected: Value = serde_saphyr::from_str(text).unwrap();
        assert_eq!(Source::from_text("case", text).unwrap().parse::<Value>().unwrap(), expected, "{text}");
    }
}

#[test]
fn scalars_keep_their_text_and_location() {
    let scalars = [
        "0.850",
        "1_000",
        "0x1F",
        "-7",
        "+5",
        "1e3",
        ".5",
        "true",
        "False",
        "2027-01-31",
        "5s",
        "plain text",
    ];
    for scalar in scalars {
        let text = format!("- ключ\n- {scalar}   # comment\n- {scalar}\n- \"{scalar}\"\n- [{scalar} ]\n");
        let streamed: (String, String, String, String, Vec<String>) = serde_saphyr::from_str(&text).unwrap();
        let parsed: (String, Spanned<String>, Spanned<String>, String, Vec<Spanned<String>>) =
            Source::from_text("case", &text).unwrap().parse().unwrap();
        let (key, first, second, quoted, list) = parsed;
        for spanned in [&first, &second, &list[0]] {
            let span = spanned.span().unwrap();
            assert_eq!(&text[span.offset()..span.offset() + span.len()], scalar);
        }
        let [one] = &list[..] else { panic!("{text}") };
        assert_eq!((key, first.value, second.value, quoted, vec![one.value.clone()]), streamed, "{text}");
    }
}
