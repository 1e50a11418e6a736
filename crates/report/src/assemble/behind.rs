//! What stands behind an activity: examples, files, cases.

use crate::data::{PageExample, PageNode};
use crate::name_table::NameTable;
use crate::subject::Subject;
use iotrail_dfg::details::Example;

/// Fills in what stands behind `node`.
pub(super) fn behind(subject: &Subject<'_>, activity: &str, node: &mut PageNode, names: &mut NameTable) {
    let collected = subject.collected;
    let id = collected.ids.get(activity).copied();
    let Some(details) = id.and_then(|id| collected.details.activity(id)) else { return };
    let (limit, examples) = (subject.options.limits.rows_per_node, subject.options.limits.examples);
    node.ex = details.slowest().iter().take(examples).map(|slow| example(subject, slow, names)).collect();
    let (files, cases) = (details.files(), details.cases());
    node.flm = files.len().saturating_sub(limit) as u64;
    node.csm = cases.len().saturating_sub(limit) as u64;
    for (file, totals) in files.into_iter().take(limit) {
        let name = names.id(subject.name_of(file));
        node.fl.push((name, totals.count, totals.known_duration_ns(), totals.bytes()));
    }
    for (key, totals) in cases.into_iter().take(limit) {
        let name = names.id(&subject.query.case_name(key));
        node.cs.push((name, totals.count, totals.known_duration_ns(), totals.bytes()));
    }
}

fn example(subject: &Subject<'_>, example: &Example, names: &mut NameTable) -> PageExample {
    let (event, table) = (&example.event, subject.log.names());
    (
        subject.offset(event.start),
        example.duration.0,
        names.id(&subject.query.case_name(example.key)),
        event.pid.0,
        event.tid.0,
        names.id(table.call(event.call)),
        table.path(event.path).map(|path| names.id(path)),
        event.offset.get(),
        event.requested.get(),
        event.size.get(),
        table.errno(event.errno).map(|errno| names.id(errno)),
    )
}
