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
    let frames: Option<Vec<(Row, usize)>> =
        rows.into_iter().map(|row| Some((row, text_bytes(&frame(row, &texts)?)))).collect();
    let frames =
        frames.ok_or_else(|| input.error("a frame of what does not exist", "texts and lines of the file"))?;
    let mut left = input.most();
    let lengths = input.columns::<1>()?;
    let stacks = input.columns::<1>()?;
    let mut rest = stacks.iter();
    let mut sites = Vec::new();
    for [length] in lengths {
        let length =
            length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= rest.len());
        let stack = length.map(|length| rest.by_ref().take(length));
        let of_place = |[place]: &[Option<i64>; 1]| frames.get(usize::try_from((*place)?).ok()?);
        let site: Option<Vec<&(Row, usize)>> = stack.and_then(|stack| stack.map(of_place).collect());
        let Some(site) = site else {
            return Err(input.error(
                "a site of frames that do not exist",
                format_args!("those of {} frames", frames.len()),
            ));
        };
        let bytes = site.iter().map(|(_, bytes)| *bytes).fold(0, usize::saturating_add);
        left = left.checked_sub(bytes).ok_or_else(|| {
            let most = input.most();
            input.error("sites of more bytes of text", format_args!("at most {most}"))
        })?;
        let frames = site.into_iter().filter_map(|(row, _)| Some(frame(*row, &texts)?.owned()));
        sites.push(Site { frames: frames.collect() });
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

/// A frame whose texts are those of the section.
struct Known<'a> {
    module: &'a str,
    build_id: Option<&'a str>,
    offset: u64,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

impl Known<'_> {
    fn owned(&self) -> Frame {
        let [build_id, function, file] =
            [self.build_id, self.function, self.file].map(|text| text.map(str::to_owned));
        let source = SourcePlace { function, file, line: self.line };
        Frame { module: self.module.to_owned(), build_id, offset: self.offset, source }
    }
}

fn frame<'a>([module, build_id, offset, function, file, line]: Row, texts: &[&'a str]) -> Option<Known<'a>> {
    let text = |number: i64| texts.get(usize::try_from(number).ok()?).copied();
    let optional = |number: Option<i64>| match number {
        Some(number) => text(number).map(Some),
        None => Some(None),
    };
    let line = match line {
        Some(line) => Some(u32::try_from(line).ok()?),
        None => None,
    };
    Some(Known {
        module: text(module?)?,
        build_id: optional(build_id)?,
        offset: offset?.cast_unsigned(),
        function: optional(function)?,
        file: optional(file)?,
        line,
    })
}

fn text_bytes(frame: &Known<'_>) -> usize {
    let Known { module, build_id, function, file, .. } = *frame;
    let texts = [Some(module), build_id, function, file];
    texts.into_iter().flatten().map(str::len).fold(0, usize::saturating_add)
}

/// Bytes of the texts that a reader makes of sites.
pub(crate) fn expanded(sites: &[Site]) -> usize {
    let of_frame = |Frame { module, build_id, source, .. }: &Frame| {
        let texts = [Some(module), build_id.as_ref(), source.function.as_ref(), source.file.as_ref()];
        texts.into_iter().flatten().map(String::len).sum::<usize>()
    };
    sites.iter().flat_map(|site| &site.frames).map(of_frame).sum()
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
        Content { expanded: expanded(sites), ..out.into() }
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
    fn sites_of_more_text_than_the_file_justifies_are_an_error() {
        let frame = Frame { module: "a".repeat(1_000), ..Frame::default() };
        let sites = vec![Site { frames: vec![frame; 3] }; 5];
        let mut content = content(&sites);
        assert_eq!(content.expanded, 15_000);
        assert_eq!(back(&content, 6).expect("sites").0, sites);
        content.expanded -= 1;
        back(&content, 6).expect_err("more text than is allowed");
    }

    #[test]
    fn what_sites_have_in_common_is_kept_once() {
        let frame = |offset| Frame { module: "/home/me/bin/solver".to_owned(), offset, ..Frame::default() };
        let sites: Vec<Site> = (0..10).map(|n| Site { frames: vec![frame(n), frame(99)] }).collect();
        let Content { bytes, digits, .. } = content(&sites);
        assert!(bytes.len() + digits.len() < 160, "{} bytes", bytes.len() + digits.len());
    }
}
