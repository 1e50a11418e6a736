//! The whole result as documented JSON, indented, in a stable order.

use super::Exporter;
use crate::error::DrawError;
use crate::view::View;
use iotrail_dfg::Dfg;

pub(super) struct Json;

impl Exporter for Json {
    fn export(&self, dfg: &Dfg, _view: &View) -> Result<Vec<u8>, DrawError> {
        let encode =
            |error: serde_json::Error| DrawError::Encode { format: "JSON", reason: error.to_string() };
        let mut bytes = serde_json::to_vec_pretty(dfg).map_err(encode)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
