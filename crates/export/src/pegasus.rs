//! A workflow of Pegasus 5 in YAML (schema 5.0), with replica and transformation catalogue inline.

use crate::escape::{json, remarks_with_environment};
use crate::uses::{Task, plan};
use iotrail_workflow::jobs::Jobs;
use std::collections::BTreeMap;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// The jobs as a workflow. Strings are written as JSON strings, which YAML reads.
pub(crate) fn document(jobs: &Jobs, title: &str) -> String {
    let plan = plan(jobs);
    let mut text = remarks_with_environment(jobs);
    let _ = write!(text, "pegasus: \"5.0\"\nname: {}\n", json(&name(title)));
    if !plan.replicas.is_empty() {
        text.push_str("replicaCatalog:\n  replicas:\n");
        for (lfn, path) in &plan.replicas {
            let _ = write!(
                text,
                "    - lfn: {}\n      pfns:\n        - site: local\n          pfn: {}\n",
                json(lfn),
                json(path)
            );
        }
    }
    text.push_str("transformationCatalog:\n  transformations:\n");
    for (name, program) in &plan.transformations {
        let pfn = program.as_deref().unwrap_or("/bin/false");
        let _ = write!(
            text,
            "    - name: {}\n      sites:\n        - name: local\n          pfn: {}\n          type: installed\n",
            json(name),
            json(pfn)
        );
    }
    text.push_str(if plan.tasks.is_empty() { "jobs: []\n" } else { "jobs:\n" });
    let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for task in &plan.tasks {
        job(&mut text, task);
        for parent in &task.parents {
            children.entry(parent).or_default().push(&task.id);
        }
    }
    text.push_str(if children.is_empty() { "jobDependencies: []\n" } else { "jobDependencies:\n" });
    for (parent, children) in children {
        let _ = writeln!(text, "  - id: {parent}\n    children: [{}]", children.join(", "));
    }
    text
}

/// The name of a workflow names directories, too.
fn name(title: &str) -> String {
    let safe: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '-' }).collect();
    safe.trim_matches('-').to_owned()
}

fn job(text: &mut String, task: &Task) {
    let _ = write!(text, "  - type: job\n    name: {}\n    id: {}\n", json(&task.transformation), task.id);
    let arguments: Vec<String> = task.arguments.iter().map(|word| json(word)).collect();
    let _ = writeln!(text, "    arguments: [{}]", arguments.join(", "));
    text.push_str(if task.uses.is_empty() { "    uses: []\n" } else { "    uses:\n" });
    for file in &task.uses {
        let _ = write!(
            text,
            "      - lfn: {}\n        type: {}\n",
            json(&file.lfn),
            if file.input { "input" } else { "output" }
        );
        if let Some(size) = file.size {
            let _ = writeln!(text, "        size: \"{size}\"");
        }
        if !file.input {
            let _ = writeln!(text, "        stageOut: {}\n        registerReplica: false", file.stage_out);
        }
    }
}
