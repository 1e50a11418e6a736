//! Names of Fortran, as compilers make them for the linker.

use addr2line::gimli::{
    DW_LANG_Fortran03, DW_LANG_Fortran08, DW_LANG_Fortran18, DW_LANG_Fortran77, DW_LANG_Fortran90,
    DW_LANG_Fortran95, DwLang,
};

/// Whether a source is one of Fortran.
pub(crate) fn is_fortran(language: Option<DwLang>) -> bool {
    let known = [
        DW_LANG_Fortran77,
        DW_LANG_Fortran90,
        DW_LANG_Fortran95,
        DW_LANG_Fortran03,
        DW_LANG_Fortran08,
        DW_LANG_Fortran18,
    ];
    language.is_some_and(|language| known.contains(&language))
}

/// The name as the source has it, in lower case: `m::f` of the function `f` in the module `m`.
pub(crate) fn spelled(name: &str) -> String {
    let of_module = name.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    match of_module {
        Some((module, function)) => format!("{module}::{function}"),
        // `MAIN__` is the program.
        None => name.trim_end_matches('_').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_in_the_source() {
        for (name, expected) in [
            ("exchange_", "exchange"),
            ("__halo_MOD_exchange", "halo::exchange"),
            ("MAIN__", "MAIN"),
            ("solve", "solve"),
        ] {
            assert_eq!(spelled(name), expected);
        }
        assert!(
            is_fortran(Some(DW_LANG_Fortran08))
                && !is_fortran(Some(addr2line::gimli::DW_LANG_C))
                && !is_fortran(None)
        );
    }
}
