//! Writes a small trail for tests of other readers: `cargo run --example small_trail -- NAME.trail`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = std::env::args_os().nth(1).ok_or("usage: small_trail NAME.trail")?;
    Ok(iotrail_trail::memory::small_trail(target.as_ref())?)
}
