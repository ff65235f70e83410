//! State of the screen and the code that updates it, without I/O. The time and new data come in as messages; effects
//! tell the caller which I/O to perform.

pub(crate) mod cursor;
pub(crate) mod data;
pub(crate) mod derived;
pub(crate) mod detail;
pub(crate) mod filter;
pub(crate) mod flame;
pub(crate) mod function;
pub(crate) mod help;
pub(crate) mod keyhash;
pub(crate) mod layout;
pub(crate) mod listing;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod notices;
pub(crate) mod past;
pub(crate) mod playback;
pub(crate) mod program;
pub(crate) mod query;
pub(crate) mod requests;
pub(crate) mod row;
pub(crate) mod row_table;
pub(crate) mod screen_info;
pub(crate) mod search;
pub(crate) mod site_places;
pub(crate) mod site_rows;
pub(crate) mod slow;
pub(crate) mod sort;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod tails;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod threads;
pub(crate) mod timeline;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod views;
pub(crate) mod window;
