//! Names of functions from the symbols of a program, and frames of its code addresses from debug information.
//!
//! ```text
//! symbol -> function_name (module and name, as scopes are named by hand)
//! module, address -> symbolizer -> frames, the innermost first -> function_name
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod function_name;
pub mod symbolizer;
