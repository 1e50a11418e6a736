//! The whole result as documented JSON, indented, in a stable order.

use crate::error::ExportError;
use iotrail_dfg::Dfg;

pub(super) fn document(dfg: &Dfg) -> Result<Vec<u8>, ExportError> {
    let mut bytes = serde_json::to_vec_pretty(dfg)?;
    bytes.push(b'\n');
    Ok(bytes)
}
