//! Names the functions of a program: from its symbols, and from its code addresses with the help of debug information.
//!
//! ```text
//! symbol          -> function_name -> module and name, as for scopes named by hand
//! module, address -> symbolizer    -> frames, innermost first, named by function_name
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod function_name;
pub mod symbolizer;
