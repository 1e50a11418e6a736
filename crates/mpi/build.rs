//! Writes a wrapper for each function of the table: one for C, five for the names that Fortran compilers give it.

use iotrail_mpi_abi::{Function, Roles, functions};
use std::fmt::Write;
use std::path::Path;

/// Arguments that Fortran may add: `ierror`, and the lengths of texts.
const OF_FORTRAN: usize = 3;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = std::env::var("OUT_DIR").unwrap_or_default();
    let text = wrappers().unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&directory).join("wrappers.rs"), text) {
        println!("cargo::error={error}");
    }
}

fn wrappers() -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let mut symbols = Vec::new();
    let count = functions().len();
    writeln!(out, "static ROLES: [Roles; {count}] = [")?;
    for function in functions() {
        writeln!(out, "    {},", literal(Roles::of(&function)))?;
    }
    writeln!(out, "];")?;
    for (number, function) in functions().enumerate() {
        for (name, language, arity) in names(&function) {
            wrapper(&mut out, symbols.len(), number, &name, language, arity)?;
            symbols.push(name);
        }
    }
    writeln!(out, "static SYMBOLS: [Symbol; {}] = [", symbols.len())?;
    for name in &symbols {
        writeln!(out, "    Symbol::new(c{name:?}),")?;
    }
    writeln!(out, "];")?;
    Ok(out)
}

/// A value of `Roles` as the compiler reads it.
fn literal(roles: Roles) -> String {
    let text = format!("{roles:?}");
    text.replace("shape: ", "shape: Shape::").replace("requests: ", "requests: RequestUse::")
}

/// The names of a function in C and Fortran, and how many arguments it gets at most.
fn names(function: &Function) -> Vec<(String, &'static str, usize)> {
    let arity = function.parameters.len();
    let lower = function.name.to_lowercase();
    // `MPI_Pcontrol` takes any number.
    let in_c = if function.parameters.contains(&"more") { 6 } else { arity };
    let in_fortran = arity + OF_FORTRAN;
    let mut names = vec![(function.name.to_owned(), "C", in_c)];
    let upper = function.name.to_uppercase();
    let forms = [lower.clone(), format!("{lower}_"), format!("{lower}__"), upper];
    names.extend(forms.map(|name| (name, "Fortran", in_fortran)));
    names.extend(
        [format!("{lower}_f08_"), format!("{lower}_f08ts_")].map(|name| (name, "Fortran", in_fortran)),
    );
    names
}

fn wrapper(
    out: &mut String,
    symbol: usize,
    function: usize,
    name: &str,
    language: &str,
    arity: usize,
) -> std::fmt::Result {
    let arguments: Vec<String> = (0..arity).map(|number| format!("a{number}")).collect();
    let parameters: Vec<String> = arguments.iter().map(|name| format!("{name}: usize")).collect();
    let (arguments, parameters) = (arguments.join(", "), parameters.join(", "));
    writeln!(out, "#[unsafe(export_name = {name:?})]")?;
    writeln!(out, "unsafe extern \"C-unwind\" fn s{symbol}({parameters}) -> usize {{")?;
    writeln!(out, "    // SAFETY: called as the function of that name, with its arguments.")?;
    writeln!(
        out,
        "    unsafe {{ call(&SYMBOLS[{symbol}], {function}, Language::{language}, &mut [{arguments}]) }}"
    )?;
    writeln!(out, "}}")
}
