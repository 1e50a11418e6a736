//! From places in the files of programs to the functions and lines of their sources.
//!
//! Files are read where they lie, or their debug information where packages put it. One that is another than the program had loaded, by its
//! build ID, says nothing.

mod fortran;

use addr2line::{Loader, demangle_auto};
use iotrail_model::text::text_to_path;
use iotrail_model::{Frame, SourcePlace};
use object::{Object, ReadCache};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where packages put debug information, by the build ID.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// Programs and libraries whose debug information was read.
#[derive(Default)]
pub struct Sources {
    modules: HashMap<(String, Option<String>), Vec<Loader>>,
}

impl Sources {
    /// Fills in what is known of the sources of frames.
    pub fn name<'a>(&mut self, frames: impl IntoIterator<Item = &'a mut Frame>) {
        for frame in frames {
            frame.source = self.place(frame);
        }
    }

    fn place(&mut self, frame: &Frame) -> SourcePlace {
        let key = (frame.module.clone(), frame.build_id.clone());
        let loaders =
            self.modules.entry(key).or_insert_with(|| open(&frame.module, frame.build_id.as_deref()));
        // The call lies before the place to which it returns.
        let Some(call) = frame.offset.checked_sub(1) else { return SourcePlace::default() };
        let with_lines = loaders.iter().find_map(|loader| of_lines(loader, call));
        with_lines.unwrap_or_else(|| SourcePlace {
            function: loaders.iter().find_map(|loader| of_symbols(loader, call)),
            ..SourcePlace::default()
        })
    }
}

/// The file of a module, and that of its debug information, if it has one.
fn open(module: &str, build_id: Option<&str>) -> Vec<Loader> {
    let own = PathBuf::from(OsStr::from_bytes(&text_to_path(module)));
    let apart = build_id.and_then(|id| {
        let (front, rest) = id.split_at_checked(2)?;
        Some(Path::new(DEBUG_FILES).join(front).join(format!("{rest}.debug")))
    });
    let files = [Some(own), apart].into_iter().flatten();
    let is_it = |path: &PathBuf| path.is_file() && build_id_of(path).as_deref() == build_id;
    files.filter(is_it).filter_map(|path| Loader::new(path).ok()).collect()
}

/// The build ID of a file in hexadecimal digits.
fn build_id_of(path: &Path) -> Option<String> {
    let file = ReadCache::new(File::open(path).ok()?);
    let object = object::File::parse(&file).ok()?;
    let id = object.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What debug information tells of an instruction: of functions that are inlined there the innermost.
fn of_lines(loader: &Loader, call: u64) -> Option<SourcePlace> {
    let frame = loader.find_frames(call).ok()?.next().ok()??;
    let function = frame.function.as_ref().and_then(|function| {
        let name = function.raw_name().ok()?;
        Some(match fortran::is_fortran(function.language) {
            true => fortran::spelled(&name),
            false => demangle_auto(name, function.language).into_owned(),
        })
    });
    let location = frame.location?;
    Some(SourcePlace {
        function: function.or_else(|| of_symbols(loader, call)),
        file: location.file.map(str::to_owned),
        line: location.line.filter(|line| *line > 0),
    })
}

/// What the symbol table tells.
fn of_symbols(loader: &Loader, call: u64) -> Option<String> {
    let name = loader.find_symbol(call)?;
    Some(demangle_auto(Cow::Borrowed(name), None).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn own(offset: u64) -> Frame {
        let path = std::env::current_exe().unwrap();
        let build_id = build_id_of(&path);
        let module = path.to_str().unwrap().to_owned();
        Frame { module, build_id, offset, source: SourcePlace::default() }
    }

    /// Where a function of a program lies in its file.
    fn offset_of(program: &Path, name: &str) -> u64 {
        let file = ReadCache::new(File::open(program).unwrap());
        let object = object::File::parse(&file).unwrap();
        let symbols = object.symbol_map();
        symbols.symbols().iter().find(|symbol| symbol.name() == name).unwrap().address()
    }

    #[test]
    fn function_file_and_line_come_from_the_debug_information() {
        let directory = tempfile::tempdir().unwrap();
        let (source, program) = (directory.path().join("a.c"), directory.path().join("a"));
        std::fs::write(&source, "int one(void)\n{\n  return 1;\n}\nint main(void) { return one(); }\n")
            .unwrap();
        let built = Command::new("cc").arg("-g").arg(&source).arg("-o").arg(&program).status();
        assert!(built.unwrap().success());
        let module = program.to_str().unwrap().to_owned();
        let offset = offset_of(&program, "one") + 1;
        let mut frame =
            Frame { module, build_id: build_id_of(&program), offset, source: SourcePlace::default() };
        Sources::default().name([&mut frame]);
        let SourcePlace { function, file, line } = frame.source;
        assert_eq!(function.as_deref(), Some("one"));
        assert!(file.is_some_and(|file| file.ends_with("a.c")));
        assert!(line.is_some_and(|line| (1..=3).contains(&line)), "{line:?}");
    }

    #[test]
    fn another_file_of_that_name_or_none_says_nothing() {
        let offset = another_file_of_that_name_or_none_says_nothing as *const () as u64;
        let mut frames = [
            Frame { build_id: Some("0123".to_owned()), ..own(offset) },
            Frame { module: "/nowhere/libx.so".to_owned(), ..own(offset) },
            own(0),
            own(u64::MAX),
        ];
        Sources::default().name(&mut frames);
        assert!(frames.iter().all(|frame| frame.source == SourcePlace::default()), "{frames:?}");
    }

    #[test]
    fn files_that_are_no_programs_are_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        for bytes in [&b""[..], b"\x7fELF", &[0x7f; 5000]] {
            let path = directory.path().join("x");
            std::fs::write(&path, bytes).unwrap();
            let mut frame =
                Frame { module: path.to_str().unwrap().to_owned(), offset: 9, ..Frame::default() };
            Sources::default().name([&mut frame]);
            assert_eq!(frame.source, SourcePlace::default());
        }
    }
}
