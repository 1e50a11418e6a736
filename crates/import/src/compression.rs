//! Compressed input, recognised by its first bytes, never by its name.
//!
//! Concatenated members are one text. What a decoder delivered before it met damage or the end is never lost: the
//! reader hands it out first and the error afterwards.

use std::io::{self, BufRead, Read};

/// How many bytes [`Compression::detect`] wants to see.
pub(crate) const MAGIC_BYTES: usize = 6;

/// Decoding an xz file may take this much memory: twice what `xz -9` asks for.
const XZ_MEMORY: u64 = 128 << 20;

/// Log2 of the largest zstd window: what `zstd --ultra -22` and `--long` use.
const ZSTD_WINDOW_LOG: u32 = 27;

/// What the bytes of an input are packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Not at all.
    Plain,
    Gzip,
    Xz,
    Zstd,
    /// With something we do not unpack; what it is called and what unpacks it.
    Foreign(&'static str, &'static str),
}

impl Compression {
    /// What input that starts with `head` is packed with.
    pub(crate) fn detect(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // A zstd frame, or the skippable frame that parallel and seekable compressors put first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Foreign("bzip2", "bunzip2"),
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Foreign("lz4", "lz4 -d"),
            [0x5d, 0, 0, ..] => Self::Foreign("lzma", "unlzma"),
            [b'P', b'K', 3, 4, ..] => Self::Foreign("a zip archive", "unzip"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Self::Foreign("a 7z archive", "7z x"),
            _ => Self::Plain,
        }
    }

    /// The text behind `raw`.
    pub(crate) fn open(self, raw: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Plain | Self::Foreign(..) => Box::new(raw),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Self::Xz => {
                let stream =
                    liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(raw, stream))
            }
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(raw)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    fn zst(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).expect("memory")
    }

    type Packer = fn(&[u8]) -> Vec<u8>;

    fn packers() -> [(Compression, Packer); 3] {
        [(Compression::Gzip, gzip), (Compression::Xz, xz), (Compression::Zstd, zst)]
    }

    /// Everything that comes, and the error behind it.
    fn read(bytes: Vec<u8>) -> (Vec<u8>, Option<io::Error>) {
        let mut reader = Compression::detect(&bytes).open(io::Cursor::new(bytes)).expect("a decoder");
        let mut text = Vec::new();
        let error = loop {
            let mut piece = [0; 1000];
            match reader.read(&mut piece) {
                Ok(0) => break None,
                Ok(count) => text.extend_from_slice(&piece[..count]),
                Err(error) => break Some(error),
            }
        };
        (text, error)
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let step = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(step).take(length).collect()
    }

    #[test]
    fn concatenated_members_are_one_text() {
        for (kind, pack) in packers() {
            let bytes = [pack(b"one\n"), pack(b""), pack(b"two\n")].concat();
            assert_eq!(Compression::detect(&bytes[..MAGIC_BYTES]), kind);
            let (text, error) = read(bytes);
            assert_eq!(String::from_utf8_lossy(&text), "one\ntwo\n", "{kind:?}");
            assert!(error.is_none(), "{kind:?} {error:?}");
        }
    }

    #[test]
    fn what_comes_before_the_damage_is_read() {
        let text = noise(500_000);
        for (kind, pack) in packers() {
            let whole = pack(&text);
            let (got, error) = read(whole[..whole.len() - 1000].to_vec());
            assert!(error.is_some(), "{kind:?}: the loss must be seen");
            assert!(got.len() > 300_000 && text.starts_with(&got), "{kind:?}: {} bytes came", got.len());
            let (got, error) = read([whole, b"garbage".to_vec()].concat());
            assert!(got == text, "{kind:?}: {} bytes came before trailing garbage", got.len());
            assert!(error.is_some(), "{kind:?}: trailing garbage must be seen");
        }
    }

    #[test]
    fn foreign_formats_are_named() {
        assert_eq!(Compression::detect(b"BZh91AY"), Compression::Foreign("bzip2", "bunzip2"));
        assert_eq!(Compression::detect(b"execve("), Compression::Plain);
        assert_eq!(Compression::detect(b""), Compression::Plain);
    }
}
