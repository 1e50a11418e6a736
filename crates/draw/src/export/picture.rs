//! Scenes as pictures: every drawing, of whatever, becomes a file here.

use super::{Exporter, Format, pdf, png};
use crate::compose;
use crate::error::DrawError;
use crate::scene::Scene;
use crate::svg;
use crate::view::{Theme, View};
use iotrail_dfg::Dfg;
use std::path::Path;

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureFormat {
    /// Vectors for browsers, with the colours of both themes.
    Svg,
    /// Pixels, two for each point.
    Png,
    /// Vectors on a page of their size.
    Pdf,
}

impl PictureFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// The format that the extension of `path` names, if it names one of a picture.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        match Format::from_path(path)? {
            Format::Svg => Some(Self::Svg),
            Format::Png => Some(Self::Png),
            Format::Pdf => Some(Self::Pdf),
            _ => None,
        }
    }
}

/// `scene` in `format`, as the bytes of a file.
///
/// # Errors
/// If the picture is too large or cannot be encoded.
pub fn picture(scene: &Scene, theme: Theme, format: PictureFormat) -> Result<Vec<u8>, DrawError> {
    match format {
        PictureFormat::Svg => Ok(svg::write(scene, theme).into_bytes()),
        PictureFormat::Png => png::write(scene, theme),
        PictureFormat::Pdf => pdf::write(scene, theme),
    }
}

/// `scene` in the format that the extension of `path` names, as the bytes of that file.
///
/// # Errors
/// If the extension names no format of pictures, and as [`picture`].
pub fn picture_file(scene: &Scene, theme: Theme, path: &Path) -> Result<Vec<u8>, DrawError> {
    let format = PictureFormat::from_path(path).ok_or_else(|| DrawError::NoPicture(path.to_owned()))?;
    picture(scene, theme, format)
}

impl Exporter for PictureFormat {
    fn export(&self, dfg: &Dfg, view: &View) -> Result<Vec<u8>, DrawError> {
        picture(&compose::scene(dfg, view)?, view.theme, *self)
    }
}
