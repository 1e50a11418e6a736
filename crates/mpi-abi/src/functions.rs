//! The table of functions.

/// A line for each function, sorted by name.
const TABLE: &str = include_str!("functions.txt");

/// A function of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in C, `MPI_Send`.
    pub name: &'static str,
    /// The names of its parameters in C, in order. Fortran has `ierror` behind them.
    pub parameters: Vec<&'static str>,
}

impl Function {
    /// Whether it is of MPI-IO: a call on files.
    #[must_use]
    pub fn is_io(&self) -> bool {
        self.name.starts_with("MPI_File_") || self.name == "MPI_Register_datarep"
    }
}

/// All functions, in the order of their numbers.
///
/// Left out are the tool interface (`MPI_T_`), what is called for its address alone (`MPI_DUP_FN`, ...), conversions of handles
/// between languages, the clock (`MPI_Wtime`, `MPI_Wtick`), which costs less than a record of it, and what a library is asked about
/// itself (`MPI_Get_version`, `MPI_Get_library_version`, `MPI_Abi_`): programs conclude from the mere presence of that which library
/// they have loaded, if any (mpi4py does).
pub fn functions() -> impl ExactSizeIterator<Item = Function> {
    let lines: Vec<&str> = TABLE.lines().collect();
    lines.into_iter().map(|line| {
        let mut words = line.split(' ');
        Function { name: words.next().unwrap_or_default(), parameters: words.collect() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_each_function_once() {
        let names: Vec<&str> = functions().map(|function| function.name).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "sorted");
        assert!(names.iter().all(|name| name.starts_with("MPI_")));
        assert_eq!(names.len(), 560);
    }

    #[test]
    fn parameters_are_in_the_order_of_the_standard() {
        let send = functions().find(|function| function.name == "MPI_Send").unwrap();
        assert_eq!(send.parameters, ["buf", "count", "datatype", "dest", "tag", "comm"]);
        assert!(!send.is_io());
        assert!(functions().find(|function| function.name == "MPI_File_open").unwrap().is_io());
    }
}
