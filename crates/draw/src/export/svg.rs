//! The picture as SVG.

use super::Exporter;
use crate::compose;
use crate::error::DrawError;
use crate::view::View;
use iotrail_dfg::Dfg;

pub(super) struct Svg;

impl Exporter for Svg {
    fn export(&self, dfg: &Dfg, view: &View) -> Result<Vec<u8>, DrawError> {
        Ok(crate::svg::write(&compose::scene(dfg, view)?, view.theme).into_bytes())
    }
}
