//! JSON without what it has anyway.

use serde_json::Value;

/// Takes members off `value` that are as in `usual`, also those of objects in it, which themselves stay.
pub(crate) fn without(value: &mut Value, usual: &Value) {
    let (Value::Object(members), Value::Object(usual)) = (value, usual) else { return };
    members.retain(|name, member| member.is_object() || usual.get(name) != Some(member));
    for (name, member) in members {
        without(member, usual.get(name).unwrap_or(&Value::Null));
    }
}

/// Gives members back that [`without`] took.
pub(crate) fn with(value: &mut Value, usual: &Value) {
    let (Value::Object(members), Value::Object(usual)) = (value, usual) else { return };
    for (name, usual) in usual {
        match members.get_mut(name) {
            Some(member) => with(member, usual),
            None if usual.is_object() => {}
            None => drop(members.insert(name.clone(), usual.clone())),
        }
    }
}
