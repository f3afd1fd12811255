//! The input of a basis: columns of a table, by name.

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub enum ColumnValues<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// Text: for each row the index of its level. Every code is below `levels.len()`.
    Labels {
        /// One for each row.
        codes: &'a [u32],
        /// The texts, in any order.
        levels: &'a [String],
    },
}

/// Finds a column of a table by name.
pub type Lookup<'a, 'f> = dyn Fn(&str) -> Option<ColumnValues<'a>> + 'f;
