//! The code of `docs/recipes.md`: documentation tests compile and run each block of it.

#[cfg(doctest)]
#[doc = include_str!("../../docs/recipes.md")]
pub struct Recipes;
