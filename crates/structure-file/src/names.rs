//! The dictionaries of a structure.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use iotrail_model::Names;
use std::sync::Arc;

pub(crate) fn write(names: &Names, roles: &Vec<Arc<str>>, out: &mut Writer) {
    for list in [&names.calls, &names.paths, &names.errnos, &names.flags, roles] {
        out.texts(list);
    }
}

pub(crate) fn read(input: &mut Reader<'_>) -> Result<(Names, Vec<Arc<str>>), FileError> {
    let names = Names { calls: list(input)?, paths: list(input)?, errnos: list(input)?, flags: list(input)? };
    Ok((names, list(input)?))
}

fn list(input: &mut Reader<'_>) -> Result<Vec<Arc<str>>, FileError> {
    Ok(input.texts()?.into_iter().map(Arc::from).collect())
}
