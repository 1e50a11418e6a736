//! Call sites: texts, frames that refer to them, sites that refer to frames, and the site of each key.

use crate::document::CallKey;
use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use hashbrown::HashMap;
use iotrail_model::{Cell, Frame, Nullable, Site, SiteId, SourcePlace};

type Result<T> = std::result::Result<T, FileError>;

/// Columns of a frame: module, build ID, offset, function, file, line.
type Row = [Option<i64>; 6];

/// Lists in which each value has the number of its first place.
struct Numbered<'a, T>(Vec<T>, HashMap<&'a [u8], i64>);

impl<'a> Numbered<'a, &'a str> {
    fn number(&mut self, text: &'a str) -> Option<i64> {
        let next = self.0.len() as i64;
        Some(*self.1.entry(text.as_bytes()).or_insert_with(|| {
            self.0.push(text);
            next
        }))
    }
}

pub(crate) fn write(sites: &[Site], keys: &[CallKey], out: &mut Writer) {
    let mut texts = Numbered(Vec::new(), HashMap::new());
    let (mut frames, mut places) = (Vec::<Row>::new(), HashMap::<Row, i64>::new());
    let mut of_frame = |frame| {
        let row = row(frame, &mut texts);
        [Some(*places.entry(row).or_insert_with(|| {
            frames.push(row);
            frames.len() as i64 - 1
        }))]
    };
    let stacks: Vec<[Option<i64>; 1]> =
        sites.iter().flat_map(|site| &site.frames).map(&mut of_frame).collect();
    out.texts(&texts.0);
    out.columns(
        &frames,
        &[|row| row[0], |row| row[1], |row| row[2], |row| row[3], |row| row[4], |row| row[5]],
    );
    out.columns(sites, &[|site| Some(site.frames.len() as i64)]);
    out.columns(&stacks, &[|row| row[0]]);
    out.columns(keys, &[|key| key.site.number()]);
}

fn row<'a>(frame: &'a Frame, texts: &mut Numbered<'a, &'a str>) -> Row {
    let Frame { module, build_id, offset, source } = frame;
    let mut optional = |text: &'a Option<String>| text.as_deref().and_then(|text| texts.number(text));
    let (build_id, function, file) = (optional(build_id), optional(&source.function), optional(&source.file));
    [texts.number(module), build_id, Some(offset.cast_signed()), function, file, source.line.map(i64::from)]
}

/// Reads the sites, and fills in those of the keys.
pub(crate) fn read(input: &mut Reader<'_>, keys: &mut [CallKey]) -> Result<Vec<Site>> {
    let texts = input.texts()?;
    let rows = input.columns::<6>()?;
    let frames: Option<Vec<Frame>> = rows.into_iter().map(|row| frame(row, &texts)).collect();
    let frames =
        frames.ok_or_else(|| input.error("a frame of what does not exist", "texts and lines of the file"))?;
    let lengths = input.columns::<1>()?;
    let stacks = input.columns::<1>()?;
    let mut rest = stacks.iter();
    let mut sites = Vec::new();
    for [length] in lengths {
        let length =
            length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= rest.len());
        let stack = length.map(|length| rest.by_ref().take(length));
        let of_place = |[place]: &[Option<i64>; 1]| frames.get(usize::try_from((*place)?).ok()?).cloned();
        let site: Option<Vec<Frame>> = stack.and_then(|stack| stack.map(of_place).collect());
        let Some(frames) = site else {
            return Err(input.error(
                "a site of frames that do not exist",
                format_args!("those of {} frames", frames.len()),
            ));
        };
        sites.push(Site { frames });
    }
    if rest.len() > 0 {
        return Err(input.error(format_args!("{} frames of no site", rest.len()), "none"));
    }
    let of_keys = input.columns::<1>()?;
    if of_keys.len() != keys.len() {
        return Err(input.error(
            format_args!("sites of {} keys", of_keys.len()),
            format_args!("those of {}", keys.len()),
        ));
    }
    for (key, [site]) in keys.iter_mut().zip(of_keys) {
        let known = Nullable::<SiteId>::of_number(site)
            .filter(|site| site.get().is_none_or(|site| site.index() < sites.len()));
        let expected = format_args!("one of {} sites", sites.len());
        key.site = known.ok_or_else(|| input.error(format_args!("a key of site {site:?}"), expected))?;
    }
    Ok(sites)
}

fn frame([module, build_id, offset, function, file, line]: Row, texts: &[&str]) -> Option<Frame> {
    let text = |number: i64| Some((*texts.get(usize::try_from(number).ok()?)?).to_owned());
    let optional = |number: Option<i64>| match number {
        Some(number) => text(number).map(Some),
        None => Some(None),
    };
    let line = match line {
        Some(line) => Some(u32::try_from(line).ok()?),
        None => None,
    };
    Some(Frame {
        module: text(module?)?,
        build_id: optional(build_id)?,
        offset: offset?.cast_unsigned(),
        source: SourcePlace { function: optional(function)?, file: optional(file)?, line },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Content;
    use crate::section::Section;
    use proptest::prelude::*;

    fn sites() -> impl Strategy<Value = Vec<Site>> {
        let text = || prop::option::of("[a-c/]{0,3}");
        let frame = ("[ab]", text(), any::<u64>(), text(), text(), any::<Option<u32>>());
        let frame = frame.prop_map(|(module, build_id, offset, function, file, line)| Frame {
            module,
            build_id,
            offset,
            source: SourcePlace { function, file, line },
        });
        prop::collection::vec(prop::collection::vec(frame, 0..5).prop_map(|frames| Site { frames }), 0..6)
    }

    fn keys(sites: usize) -> Vec<CallKey> {
        let site = |number: usize| (number > 0).then(|| SiteId::from_index(number - 1)).into();
        (0..=sites).map(|number| CallKey { site: site(number), ..CallKey::default() }).collect()
    }

    fn content(sites: &[Site]) -> Content {
        let mut out = Writer::default();
        write(sites, &keys(sites.len()), &mut out);
        out.into()
    }

    fn back(content: &Content, keys: usize) -> Result<(Vec<Site>, Vec<CallKey>)> {
        let mut input = Reader::new(Section::Sites, content);
        let mut keys = vec![CallKey::default(); keys];
        let sites = read(&mut input, &mut keys)?;
        input.end()?;
        Ok((sites, keys))
    }

    proptest! {
        #[test]
        fn sites_come_back(sites in sites()) {
            let keys = keys(sites.len());
            prop_assert_eq!(back(&content(&sites), keys.len()).expect("sites"), (sites, keys));
        }

        #[test]
        fn any_bytes_are_sites_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _sites_or_error = back(&bytes.into(), 3);
        }

        #[test]
        fn damaged_sites_are_sites_or_an_error(sites in sites(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut content = content(&sites);
            let place = place.index(content.bytes.len());
            content.bytes[place] = byte;
            if let Ok((sites, keys)) = back(&content, sites.len() + 1) {
                prop_assert!(keys.iter().all(|key| key.site.get().is_none_or(|site| site.index() < sites.len())));
            }
        }
    }

    #[test]
    fn what_sites_have_in_common_is_kept_once() {
        let frame = |offset| Frame { module: "/home/me/bin/solver".to_owned(), offset, ..Frame::default() };
        let sites: Vec<Site> = (0..10).map(|n| Site { frames: vec![frame(n), frame(99)] }).collect();
        let Content { bytes, digits, .. } = content(&sites);
        assert!(bytes.len() + digits.len() < 160, "{} bytes", bytes.len() + digits.len());
    }
}
