//! The whole table as others see it: whoever changes an answer sees here for which calls.

use super::{CallSpec, Class, DescriptorEffect, LastRule, NameEffect, TABLE, Transfer};
use crate::calls::{ArgKind, Makes};
use crate::file_facts::FileKind;
use std::fmt::Write;

fn class_name(class: Option<Class>) -> &'static str {
    class.map_or("-", Class::name)
}

/// One word if the descriptor does not matter; else the classes of those kinds for which it is another one.
fn classes(spec: &CallSpec) -> String {
    let unknown = class_name(spec.class(None, None));
    let mut of_kinds: Vec<(&str, String)> = Vec::new();
    for kind in FileKind::ALL {
        let class = class_name(spec.class(Some(kind), Some(kind)));
        match of_kinds.iter_mut().find(|(other, _)| *other == class) {
            Some((_, kinds)) => *kinds = format!("{kinds}+{}", kind.name()),
            None => of_kinds.push((class, kind.name().to_owned())),
        }
    }
    let others = of_kinds.iter().filter(|(class, _)| *class != unknown);
    others.fold(unknown.to_owned(), |text, (class, kinds)| format!("{text}, {kinds}: {class}"))
}

fn last(spec: &CallSpec) -> String {
    let paths = spec.args.iter().enumerate().filter(|(_, kind)| **kind == ArgKind::Path);
    let rules = paths.map(|(at, _)| match spec.last(at) {
        LastRule::Always(last) => format!("{last:?}").to_lowercase(),
        LastRule::Unless(_, flag) => format!("unless {}", flag.name),
        LastRule::If(_, flag) => format!("if {}", flag.name),
        LastRule::Open(_) => "by open flags".to_owned(),
    });
    rules.collect::<Vec<_>>().join(", ")
}

fn row(spec: &CallSpec) -> String {
    let mut row = format!(
        "{}: {} {} {:?}; class {}",
        spec.name,
        spec.layer.name(),
        spec.family.name(),
        spec.kind,
        classes(spec)
    );
    let mut add = |title: &str, text: String| {
        let _ = write!(row, "; {title} {text}");
    };
    if spec.request.is_some() {
        add("does the work of", format!("{}{}", spec.work(), if spec.is_direct() { ", direct" } else { "" }));
    }
    if spec.transfer != Transfer::None {
        add(
            "moves",
            format!("{:?}{}", spec.transfer, if spec.uses_position() { " at the position" } else { "" }),
        );
    }
    if spec.makes != Makes::Nothing {
        add("returns", format!("{:?}", spec.makes));
    }
    if spec.descriptor_effect() != DescriptorEffect::None {
        add("descriptors", format!("{:?}", spec.descriptor_effect()));
    }
    if spec.name_effect() != NameEffect::None {
        add("names", format!("{:?}", spec.name_effect()));
    }
    if spec.has(ArgKind::Path) {
        add("last", last(spec));
    }
    row
}

#[test]
fn what_is_known_of_every_call() {
    let rows: Vec<String> = TABLE.iter().map(row).collect();
    insta::assert_snapshot!(rows.join("\n"));
}
