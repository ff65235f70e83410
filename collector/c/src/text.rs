//! Texts that come from C and go there.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};

thread_local! {
    /// Why the last call of this thread that failed did so.
    static ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns a text of C. What is no UTF-8 is replaced; a null pointer is an empty text.
pub(crate) fn of_c(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the header asks for a text that ends in a zero and lives during the call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Returns a text that lives as long as the program or library that has it, or nothing if it is no UTF-8 or a null pointer.
pub(crate) fn of_constant(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the macros of the header have string literals here.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

/// Copies a text to C, cut to what fits, with a zero behind it. Returns the bytes of the whole text.
pub(crate) fn to_c(text: &str, place: *mut c_char, size: usize) -> usize {
    if let Some(most) = size.checked_sub(1).filter(|_| !place.is_null()) {
        let mut fits = text.len().min(most);
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        // SAFETY: the caller has `size` bytes there, and at most that many less one are written. A text of Rust's is elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast::<u8>(), fits) };
        // SAFETY: as above, for the zero behind them.
        unsafe { place.wrapping_add(fits).write(0) };
    }
    text.len()
}

/// Notes why a call failed, and returns what it returns then.
pub(crate) fn failed(why: &impl ToString) -> i32 {
    ERROR.set(why.to_string());
    -1
}

/// Writes why the last call of this thread that failed did so.
#[unsafe(no_mangle)]
extern "C" fn tickscope_error(text: *mut c_char, size: usize) -> usize {
    ERROR.with_borrow(|error| to_c(error, text, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = |size: usize| {
            let mut buffer = [c_char::MAX; 8];
            let whole = to_c("ab\u{e9}d", buffer.as_mut_ptr(), size);
            let written = buffer.iter().position(|&byte| byte == 0);
            (whole, written.map(|_| of_c(buffer.as_ptr())))
        };
        assert_eq!(cut(8), (5, Some("ab\u{e9}d".into())));
        assert_eq!(cut(6), (5, Some("ab\u{e9}d".into())));
        assert_eq!(cut(4), (5, Some("ab".into())));
        assert_eq!(cut(1), (5, Some(String::new())));
        assert_eq!(cut(0), (5, None));
        assert_eq!(to_c("abc", std::ptr::null_mut(), 5), 3);
    }

    #[test]
    fn a_failure_is_told_to_its_thread() {
        assert_eq!(failed(&"no"), -1);
        let told = || {
            let mut buffer = [0; 8];
            tickscope_error(buffer.as_mut_ptr(), buffer.len());
            of_c(buffer.as_ptr())
        };
        assert_eq!(told(), "no");
        assert_eq!(std::thread::spawn(told).join().unwrap(), "");
    }
}
