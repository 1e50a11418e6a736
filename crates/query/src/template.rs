//! Texts with holes: `${name}` is a hole, `$$` a dollar sign, and a dollar sign before anything else itself.

/// The pieces of `text` in their order: what `literal` makes of each run of text, and `hole` of the name in each hole.
pub(crate) fn pieces<P>(
    text: &str,
    literal: impl Fn(String) -> P,
    hole: impl Fn(&str) -> Result<P, String>,
) -> Result<Vec<P>, String> {
    let mut pieces = Vec::new();
    let mut run = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        run.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(name) = rest.strip_prefix('{') {
            let end = name.find('}').ok_or("`${` without `}`")?;
            if !run.is_empty() {
                pieces.push(literal(std::mem::take(&mut run)));
            }
            pieces.push(hole(&name[..end])?);
            rest = &name[end + 1..];
        } else {
            run.push('$');
            rest = rest.strip_prefix('$').unwrap_or(rest);
        }
    }
    run.push_str(rest);
    if !run.is_empty() {
        pieces.push(literal(run));
    }
    Ok(pieces)
}
