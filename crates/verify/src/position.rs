//! Transfers that name their offsets.

use crate::calls::{Call, CallAction, Description};
use std::collections::HashSet;

/// Makes transfers of these descriptions name their offsets, so that they do not depend on calls that were taken out.
pub(crate) fn position(calls: &mut [Call], descriptions: &HashSet<Description>) {
    for call in calls.iter_mut().filter(|call| call.open.is_some_and(|open| descriptions.contains(&open))) {
        if let CallAction::Transfer(moved) = &mut call.action {
            moved.positioned |= moved.offset.is_some();
        }
    }
}

/// Takes out the seeks of these descriptions, whose transfers name their offsets instead.
pub(crate) fn without_cursor(mut calls: Vec<Call>, descriptions: &HashSet<Description>) -> Vec<Call> {
    calls.retain(|call| {
        !matches!(call.action, CallAction::Seek(_))
            || call.open.is_none_or(|open| !descriptions.contains(&open))
    });
    position(&mut calls, descriptions);
    calls
}
