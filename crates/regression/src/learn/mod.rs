//! What a regression learns of its table before any row is bound: levels, constants, scales.

pub(crate) mod option;
