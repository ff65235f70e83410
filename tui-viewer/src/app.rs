//! The state of the screen and what changes it, without any I/O: time and data come in as messages, what is to be done
//! outside comes back as effects.

pub(crate) mod activity;
pub(crate) mod columns;
pub(crate) mod command_line;
pub(crate) mod compare;
pub(crate) mod cpu_history;
pub(crate) mod cursor;
pub(crate) mod data;
pub(crate) mod derived;
pub(crate) mod detail;
pub(crate) mod expanded;
pub(crate) mod figures;
pub(crate) mod filter;
pub(crate) mod flame;
pub(crate) mod flame_layout;
pub(crate) mod function;
pub(crate) mod help;
pub(crate) mod help_search;
pub(crate) mod keyhash;
pub(crate) mod layout;
pub(crate) mod listing;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod notices;
pub(crate) mod overlay;
pub(crate) mod percent_of;
pub(crate) mod playback;
pub(crate) mod program;
pub(crate) mod query;
pub(crate) mod requests;
pub(crate) mod row;
pub(crate) mod screen_info;
pub(crate) mod search;
pub(crate) mod site_rows;
pub(crate) mod sort;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod thread_choice;
pub(crate) mod thread_rows;
pub(crate) mod threads;
pub(crate) mod unit;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod views;
pub(crate) mod window;
