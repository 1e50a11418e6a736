//! Advice for systems of continuous integration: SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format").
//!
//! A finding is a *result* of a rule at a file. SARIF was made for source code: a finding has no line, and what is no path is a
//! logical location.

use iotrail_advise::{Advice, Fingerprint, Item, RULES, RuleInfo, Severity};
use serde_json::{Value, json};

/// The advice as a SARIF log of one run; `version` is that of the program.
#[must_use]
pub fn sarif(advice: &Advice, version: &str) -> Value {
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
    let results: Vec<Value> = advice.items().into_iter().map(result).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "iotrail", "semanticVersion": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "sources": advice.sources,
                "elapsed_ns": advice.elapsed_ns,
                "accepted": advice.accepted,
            },
        }],
    })
}

fn rule(rule: &RuleInfo) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "help": { "text": rule.page, "markdown": rule.page },
    })
}

fn result(item: Item<'_>) -> Value {
    let Fingerprint { rule, file, program } = Fingerprint::of(item);
    let example = item.example();
    let mut result = json!({
        "ruleId": item.rule(),
        "level": match item.severity() {
            Severity::High => "error",
            Severity::Medium => "warning",
            Severity::Low => "note",
        },
        "message": { "text": format!("{}. To do: {}", item.title(), item.fix()) },
        "locations": [location(item.file())],
        "partialFingerprints": { "finding/v1": format!("{rule} {file} {program}") },
        "properties": {
            "program": item.program(),
            "at_stake_ns": item.at_stake_ns(),
            "saved_calls": item.saved_calls(),
            "case": example.case,
            "pid": example.pid,
            "seq": example.first,
        },
    });
    if let Some(at) = RULES.iter().position(|rule| rule.id == item.rule()) {
        result["ruleIndex"] = at.into();
    }
    if let Some(share) = item.share() {
        result["rank"] = (share * 100.0).clamp(0.0, 100.0).into();
    }
    result
}

fn location(file: &str) -> Value {
    match file.starts_with('/') {
        true => json!({ "physicalLocation": { "artifactLocation": { "uri": file_uri(file) } } }),
        false => json!({ "logicalLocations": [{ "name": file, "kind": "resource" }] }),
    }
}

/// The URI of an absolute path (RFC 8089): what is not unreserved is percent-encoded.
fn file_uri(path: &str) -> String {
    let mut uri = "file://".to_owned();
    for byte in iotrail_model::text::text_to_path(path).iter() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_hold_no_byte_that_would_end_them() {
        assert_eq!(file_uri("/a b/é?#%"), "file:///a%20b/%C3%A9%3F%23%25");
    }
}
