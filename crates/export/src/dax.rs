//! A DAX 3.6, the XML of Pegasus before its version 5.

use crate::uses::plan;
use iotrail_model::quote::xml;
use iotrail_workflow::jobs::Jobs;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

fn url(path: &str) -> String {
    let mut out = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                out.push(char::from(byte))
            }
            other => drop(write!(out, "%{other:02X}")),
        }
    }
    out
}

/// The jobs as a DAX.
pub(crate) fn document(jobs: &Jobs, title: &str) -> String {
    let plan = plan(jobs);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for issue in &jobs.issues {
        // Two hyphens would end the comment early.
        let _ =
            writeln!(text, "<!-- {} -->", xml(&issue.message()).replace("--", "- -").trim_end_matches('-'));
    }
    let _ = writeln!(
        text,
        "<adag xmlns=\"http://pegasus.isi.edu/schema/DAX\" version=\"3.6\" name=\"{}\">",
        xml(title)
    );
    for (lfn, path) in &plan.replicas {
        let _ = writeln!(
            text,
            "  <file name=\"{}\">\n    <pfn url=\"{}\" site=\"local\"/>\n  </file>",
            xml(lfn),
            xml(&url(path))
        );
    }
    for (name, program) in
        plan.transformations.iter().filter_map(|(name, program)| Some((name, program.as_ref()?)))
    {
        let _ = writeln!(
            text,
            "  <executable name=\"{}\" installed=\"true\">\n    <pfn url=\"{}\" site=\"local\"/>\n  </executable>",
            xml(name),
            xml(&url(program))
        );
    }
    for task in &plan.tasks {
        let _ = writeln!(text, "  <job id=\"{}\" name=\"{}\">", task.id, xml(&task.transformation));
        if !task.arguments.is_empty() {
            let _ = writeln!(text, "    <argument>{}</argument>", xml(&task.arguments.join(" ")));
        }
        for file in &task.uses {
            let link = if file.input { "input" } else { "output" };
            let _ = write!(text, "    <uses name=\"{}\" link=\"{link}\"", xml(&file.lfn));
            if let Some(size) = file.size {
                let _ = write!(text, " size=\"{size}\"");
            }
            if !file.input {
                let _ = write!(text, " transfer=\"{}\" register=\"false\"", file.stage_out);
            }
            text.push_str("/>\n");
        }
        text.push_str("  </job>\n");
    }
    for task in plan.tasks.iter().filter(|task| !task.parents.is_empty()) {
        let _ = writeln!(text, "  <child ref=\"{}\">", task.id);
        for parent in &task.parents {
            let _ = writeln!(text, "    <parent ref=\"{parent}\"/>");
        }
        text.push_str("  </child>\n");
    }
    text.push_str("</adag>\n");
    text
}
