//! A structure whose sections are not compressed: `uncompressed IN OUT`. So `src/typical-*.structure` were made.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [structure, target] = &paths[..] else { return Err("usage: uncompressed IN OUT".into()) };
    let bytes = iotrail_structure_file::uncompressed(&std::fs::read(structure)?)?;
    Ok(std::fs::write(target, bytes)?)
}
