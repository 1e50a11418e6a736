//! The width of text, before anybody draws it.
//!
//! A login node may have no fonts, a browser may have others than ours. So one small font is part of the program (Arimo,
//! SIL Open Font License, `fonts/OFL.txt`; same widths as Arial, Helvetica and Liberation Sans): boxes are sized with its
//! metrics, PNG and PDF are drawn with it, and SVG states the width of each text for viewers that have another font.

use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId};

/// Upright weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// Normal.
    Regular,
    /// Bold.
    Bold,
}

/// What SVG asks a viewer for.
pub const FAMILY: &str = "Arimo, 'Liberation Sans', Arial, Helvetica, 'Nimbus Sans', FreeSans, 'DejaVu Sans Condensed', sans-serif";
/// How much wider text may come out in a viewer that has none of these and does not obey the stated width (librsvg).
pub const WIDER: f64 = 1.15;
/// Width of a character that the font does not have, in ems: a square, as in East Asian scripts.
pub const MISSING_WIDTH: f64 = 1.0;

static REGULAR: &[u8] = include_bytes!("../fonts/Arimo-Regular.subset.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/Arimo-Bold.subset.ttf");

/// The bytes of the font file.
#[must_use]
pub fn file(weight: Weight) -> &'static [u8] {
    match weight {
        Weight::Regular => REGULAR,
        Weight::Bold => BOLD,
    }
}

/// The parsed font; always there, because its file is part of the program.
pub(crate) fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static FACES: [OnceLock<Option<Face<'static>>>; 2] = [OnceLock::new(), OnceLock::new()];
    FACES[weight as usize].get_or_init(|| Face::parse(file(weight), 0).ok()).as_ref()
}

/// The glyph of `character`, if the font has one.
pub(crate) fn glyph(weight: Weight, character: char) -> Option<GlyphId> {
    face(weight)?.glyph_index(character)
}

/// Advance width of `character` in ems.
#[must_use]
pub fn advance(weight: Weight, character: char) -> f64 {
    let known = || {
        let face = face(weight)?;
        let advance = face.glyph_hor_advance(face.glyph_index(character)?)?;
        Some(f64::from(advance) / f64::from(face.units_per_em()))
    };
    known().unwrap_or(MISSING_WIDTH)
}

/// Width of `text` at `size`.
#[must_use]
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|character| advance(weight, character)).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_labels_are_made_of() {
        for character in "abcXYZ019/:_-.×…●■→é\u{fffd}".chars() {
            assert!(glyph(Weight::Regular, character).is_some(), "{character}");
            assert!(glyph(Weight::Bold, character).is_some(), "{character}");
        }
    }

    #[test]
    fn widths_are_those_of_arial() {
        assert!((width("0", 1000.0, Weight::Regular) - 556.0).abs() < 1.0);
        assert!((width("MM", 1000.0, Weight::Bold) - 2.0 * 833.0).abs() < 2.0);
        assert_eq!(width("中", 10.0, Weight::Regular), 10.0);
    }
}
