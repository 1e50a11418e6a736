//! Scenes as pictures: every drawing, of whatever, becomes a file here.

mod pdf;
mod png;

use crate::error::DrawError;
use crate::scene::Scene;
use crate::svg;
use crate::view::Theme;
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
    /// All formats, in the order in which help lists them.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// How names of its files end, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format that the extension of `path` names, if it names one of a picture.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.extension() == extension)
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
