//! One HTML file from the page's parts and the data.
//!
//! The script is the modules of `assets/js` one after the other, without their imports and exports: a file opened from
//! disk may not load modules, and needs none. Nothing of a trace is in the file but within the JSON, where `<`, `>`, `&`
//! and the line separators are escaped, so no name can end its element.

use crate::data::PageData;
use crate::digest;

const TEMPLATE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");
/// In the order in which they need each other.
const MODULES: &[&str] = &[
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/format.js"),
    include_str!("../assets/js/data.js"),
    include_str!("../assets/js/colour.js"),
    include_str!("../assets/js/table.js"),
    include_str!("../assets/js/zoom.js"),
    include_str!("../assets/js/summary.js"),
    include_str!("../assets/js/stage.js"),
    include_str!("../assets/js/stops.js"),
    include_str!("../assets/js/graph.js"),
    include_str!("../assets/js/panel.js"),
    include_str!("../assets/js/variants.js"),
    include_str!("../assets/js/timeline.js"),
    include_str!("../assets/js/hues.js"),
    include_str!("../assets/js/side.js"),
    include_str!("../assets/js/advice.js"),
    include_str!("../assets/js/accesses.js"),
    include_str!("../assets/js/drill.js"),
    include_str!("../assets/js/answer.js"),
    include_str!("../assets/js/files.js"),
    include_str!("../assets/js/phases.js"),
    include_str!("../assets/js/gantt.js"),
    include_str!("../assets/js/flow.js"),
    include_str!("../assets/js/distributions.js"),
    include_str!("../assets/js/throughput.js"),
    include_str!("../assets/js/window.js"),
    include_str!("../assets/js/heat.js"),
    include_str!("../assets/js/loops.js"),
    include_str!("../assets/js/comparison.js"),
    include_str!("../assets/js/curves.js"),
    include_str!("../assets/js/path.js"),
    include_str!("../assets/js/likeness.js"),
    include_str!("../assets/js/tables.js"),
    include_str!("../assets/js/coverage.js"),
    include_str!("../assets/js/main.js"),
];

/// The page that shows `data`.
///
/// # Errors
/// If the data has numbers that JSON does not have.
pub fn page(data: &PageData) -> Result<String, serde_json::Error> {
    let (script, json) = (script(), escape(&serde_json::to_string(data)?));
    let (style_source, script_source) = (digest::source(STYLE), digest::source(&script));
    let policy = format!(
        "default-src 'none'; script-src '{script_source}'; style-src '{style_source}'; base-uri 'none'; form-action 'none'"
    );
    Ok(substitute(TEMPLATE, &[("policy", &policy), ("style", STYLE), ("data", &json), ("script", &script)]))
}

/// `template` with each `{{name}}` replaced; what is put in is not looked at again.
fn substitute(template: &str, values: &[(&str, &str)]) -> String {
    let size: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut page = String::with_capacity(template.len() + size);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((name, next)) = after.split_once("}}") else { break };
        page.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        rest = next;
    }
    page.push_str(rest);
    page
}

/// The modules as one.
fn script() -> String {
    let mut script = String::from("\"use strict\";\n");
    for line in MODULES.iter().flat_map(|module| module.lines()) {
        if !line.starts_with("import ") {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

/// JSON that may stand in an HTML element. All these characters occur within strings only, where the escape is the same.
fn escape(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 64);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", character as u32));
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_end_the_data() {
        let json = serde_json::to_string("</script><!--&\u{2028}").unwrap();
        let safe = escape(&json);
        assert_eq!(safe, r#""\u003c/script\u003e\u003c!--\u0026\u2028""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!--&\u{2028}");
    }

    #[test]
    fn what_is_put_into_the_template_is_not_looked_at_again() {
        assert_eq!(substitute("<{{a}}{{b}}>", &[("a", "{{b}}"), ("b", "x")]), "<{{b}}x>");
    }

    #[test]
    fn the_script_neither_imports_nor_ends_its_element() {
        let script = script();
        assert!(!script.contains("\nimport ") && !script.contains("\nexport "));
        assert!(!script.to_lowercase().contains("</script") && !script.contains("innerHTML"));
    }
}
