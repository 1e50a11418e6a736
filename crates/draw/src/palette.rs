//! Colours: one sequential scale, one set of groups, the page; all safe for colour-blind readers.
//!
//! The sequential scale is blue, as in the paper (Sankaran et al., section IV-C: the darker, the more). The groups are
//! the colours of Okabe and Ito; the paper's green and red become bluish green and vermilion, which everybody can tell
//! apart, and border styles say the same again without colour.

use crate::scene::{Dash, Ink, Rgb};

/// Behind everything.
pub const PAGE: Ink = Ink { light: Rgb(255, 255, 255), dark: Rgb(16, 20, 26) };
/// What stands out: a critical path, which is drawn wider, too.
pub const CRITICAL: Ink = Ink { light: Rgb(196, 0, 43), dark: Rgb(255, 92, 112) };
/// Text on the page.
pub const TEXT: Ink = Ink { light: Rgb(22, 27, 34), dark: Rgb(230, 237, 243) };
/// Text of less importance.
pub const MUTED: Ink = Ink { light: Rgb(87, 96, 106), dark: Rgb(157, 167, 179) };
/// Edges.
pub const EDGE: Ink = Ink { light: Rgb(110, 119, 129), dark: Rgb(139, 148, 158) };
/// Lines of a grid, which are seen but not looked at.
pub const GRID: Ink = Ink { light: Rgb(226, 230, 235), dark: Rgb(44, 52, 62) };
/// Borders of nodes.
pub const BORDER: Ink = Ink { light: Rgb(72, 92, 116), dark: Rgb(120, 144, 172) };
/// A node without a meaning of its own.
pub const PLAIN: Ink = Ink { light: Rgb(246, 248, 250), dark: Rgb(33, 40, 50) };

const SEQUENTIAL_LIGHT: [Rgb; 6] = [
    Rgb(244, 248, 253),
    Rgb(214, 230, 244),
    Rgb(158, 202, 225),
    Rgb(84, 158, 205),
    Rgb(28, 104, 172),
    Rgb(8, 48, 107),
];
const SEQUENTIAL_DARK: [Rgb; 6] = [
    Rgb(27, 36, 48),
    Rgb(24, 56, 92),
    Rgb(24, 86, 144),
    Rgb(52, 124, 188),
    Rgb(118, 178, 224),
    Rgb(200, 228, 248),
];

const GROUPS: [Ink; 7] = [
    Ink { light: Rgb(0, 130, 95), dark: Rgb(30, 178, 136) },
    Ink { light: Rgb(200, 80, 0), dark: Rgb(240, 124, 48) },
    Ink { light: Rgb(0, 100, 170), dark: Rgb(86, 170, 230) },
    Ink { light: Rgb(176, 76, 134), dark: Rgb(220, 140, 184) },
    Ink { light: Rgb(176, 122, 0), dark: Rgb(230, 170, 40) },
    Ink { light: Rgb(40, 130, 180), dark: Rgb(120, 200, 240) },
    Ink { light: Rgb(130, 120, 0), dark: Rgb(224, 212, 80) },
];
const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot];

/// The colour of the group at `index`; colours repeat after seven, with another border style.
#[must_use]
pub fn group(index: usize) -> Ink {
    GROUPS[index % GROUPS.len()]
}

/// The border style of the group at `index`. Seven colours and four styles make 28 distinct groups.
#[must_use]
pub fn group_dash(index: usize) -> Dash {
    DASHES[index % DASHES.len()]
}

/// The shade of a share between 0 and 1.
#[must_use]
pub fn sequential(share: f64) -> Ink {
    Ink { light: along(&SEQUENTIAL_LIGHT, share), dark: along(&SEQUENTIAL_DARK, share) }
}

/// The colour at `share` of the way from `from` to `to`.
#[must_use]
pub fn mix(from: Ink, to: Ink, share: f64) -> Ink {
    Ink { light: between(from.light, to.light, share), dark: between(from.dark, to.dark, share) }
}

/// Text on `ground`: the darker or the lighter one, whichever is read better.
#[must_use]
pub fn text_on(ground: Ink) -> Ink {
    Ink { light: better(ground.light), dark: better(ground.dark) }
}

fn better(ground: Rgb) -> Rgb {
    // Black and white: with any other pair there are greys on which neither has a contrast of 4.5.
    let (dark, light) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
    if contrast(ground, dark) >= contrast(ground, light) { dark } else { light }
}

fn along(stops: &[Rgb], share: f64) -> Rgb {
    let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let index = (place as usize).min(stops.len() - 2);
    between(stops[index], stops[index + 1], place - index as f64)
}

fn between(from: Rgb, to: Rgb, share: f64) -> Rgb {
    let channel = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    Rgb(channel(from.0, to.0), channel(from.1, to.1), channel(from.2, to.2))
}

/// Contrast of two colours by WCAG 2, 1 to 21; text needs 4.5.
#[must_use]
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(colour: Rgb) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(colour.0) + 0.7152 * channel(colour.1) + 0.0722 * channel(colour.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_readable_on_every_shade() {
        for step in 0..=100 {
            let ground = sequential(f64::from(step) / 100.0);
            let text = text_on(ground);
            assert!(contrast(ground.light, text.light) >= 4.5, "light {step}");
            assert!(contrast(ground.dark, text.dark) >= 4.5, "dark {step}");
        }
    }

    #[test]
    fn lines_and_text_stand_out_from_the_page() {
        for ink in [TEXT, MUTED, CRITICAL] {
            assert!(contrast(ink.light, PAGE.light) >= 4.5 && contrast(ink.dark, PAGE.dark) >= 4.5);
        }
        for ink in GROUPS.into_iter().chain([EDGE, BORDER]) {
            assert!(
                contrast(ink.light, PAGE.light) >= 3.0 && contrast(ink.dark, PAGE.dark) >= 3.0,
                "{ink:?}"
            );
        }
    }

    #[test]
    fn more_is_darker_on_light_and_brighter_on_dark() {
        let steps: Vec<Ink> = (0..=20).map(|step| sequential(f64::from(step) / 20.0)).collect();
        assert!(steps.windows(2).all(|pair| luminance(pair[0].light) > luminance(pair[1].light)));
        assert!(steps.windows(2).all(|pair| luminance(pair[0].dark) < luminance(pair[1].dark)));
    }
}
