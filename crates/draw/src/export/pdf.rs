//! The picture as PDF.

use super::Exporter;
use crate::compose;
use crate::error::DrawError;
use crate::view::View;
use iotrail_dfg::Dfg;

pub(super) struct Pdf;

impl Exporter for Pdf {
    fn export(&self, dfg: &Dfg, view: &View) -> Result<Vec<u8>, DrawError> {
        let _ = compose::scene(dfg, view)?;
        Err(DrawError::Encode { format: "PDF", reason: "not yet".to_owned() })
    }
}
