//! What must be followed so that wanted events are right.

use super::groups::is_life;
use iotrail_model::calls::{CallKind, CallSpec, DescriptorEffect, Family, Group, Object, TABLE};

/// The rows at which threads must stop so that those in `chosen` can be understood.
pub(super) fn followed(chosen: &[bool]) -> Vec<bool> {
    let wanted = |test: fn(&CallSpec) -> bool| {
        TABLE.iter().zip(chosen).any(|(spec, chosen)| *chosen && !is_life(spec) && test(spec))
    };
    let (names, moves) = (
        wanted(|spec| Group::Descriptor.has(spec) || Group::File.has(spec)),
        wanted(CallSpec::uses_position),
    );
    let requests = wanted(|spec| spec.request.is_some());
    let rows = TABLE.iter().zip(chosen).map(|(spec, chosen)| {
        *chosen
            || is_life(spec)
            || changes_tracing(spec)
            || (names && gives_names(spec))
            || (moves && (spec.uses_position() || spec.descriptor_effect() == DescriptorEffect::Sends))
            || (requests && submits(spec))
    });
    rows.collect()
}

/// Decides what a descriptor or a relative path stands for.
fn gives_names(spec: &CallSpec) -> bool {
    let descriptors = match spec.descriptor_effect() {
        DescriptorEffect::Opens
        | DescriptorEffect::Makes
        | DescriptorEffect::Shares
        | DescriptorEffect::Controls
        | DescriptorEffect::Closes
        | DescriptorEffect::ClosesRange
        | DescriptorEffect::Unshares => true,
        // Processes are always followed; what messages bring is looked up when it is used.
        DescriptorEffect::None
        | DescriptorEffect::ClosesMarked
        | DescriptorEffect::Inherits
        | DescriptorEffect::Sends
        | DescriptorEffect::Receives => false,
    };
    descriptors
        || matches!(
            spec.kind,
            CallKind::ChangeDirectory | CallKind::ChangeRoot | CallKind::PivotRoot | CallKind::EnterNamespace
        )
}

/// Submits requests, collects their completions, or shows where the queues lie.
fn submits(spec: &CallSpec) -> bool {
    spec.family == Family::Async || matches!(spec.kind, CallKind::Make(Object::Ring) | CallKind::Map)
}

/// Interferes with the recording itself.
fn changes_tracing(spec: &CallSpec) -> bool {
    matches!(spec.kind, CallKind::Trace | CallKind::Filter | CallKind::ProcessControl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_set::groups::rows;

    #[test]
    fn what_every_call_is_needed_for() {
        let default = rows(Group::Io);
        let lines = TABLE.iter().zip(default).filter_map(|(spec, default)| {
            let sends = spec.descriptor_effect() == DescriptorEffect::Sends;
            let needs = [
                (default, "in the default set"),
                (is_life(spec), "life"),
                (gives_names(spec), "gives names"),
                (spec.uses_position(), "uses the position"),
                (sends, "sends descriptors"),
                (spec.request.is_some(), "request"),
                (submits(spec), "submits"),
                (changes_tracing(spec), "changes tracing"),
            ];
            let needs: Vec<&str> = needs.iter().filter(|(holds, _)| *holds).map(|(_, need)| *need).collect();
            (!needs.is_empty()).then(|| format!("{}: {}", spec.name, needs.join(", ")))
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }
}
