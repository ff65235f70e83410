//! Converts strings from and to C.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};

use tickscope::__private::foreign;

thread_local! {
    /// Why the last failed call on this thread failed.
    static ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the bytes of a C string. A null pointer is an empty string.
pub(crate) fn bytes_of<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the header requires a zero-terminated string that stays valid during the call, or until the program ends
    // if it belongs to a site.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Converts a C string. Bytes that are not UTF-8 are escaped.
pub(crate) fn of_c(text: *const c_char) -> String {
    escaped(bytes_of(text)).collect()
}

/// Returns a string of a site, or an escaped copy if some bytes are not UTF-8. Returns `None` if there is no space for
/// the copy.
pub(crate) fn of_constant(text: *const c_char) -> Option<&'static str> {
    let bytes = bytes_of(text);
    str::from_utf8(bytes)
        .ok()
        .or_else(|| foreign::keep_text(escaped(bytes)))
}

/// Returns the parts of a string in which each byte that is not UTF-8 is escaped, such as `\xe9`. Allocates nothing.
fn escaped(bytes: &[u8]) -> impl Iterator<Item = &str> + Clone {
    let digit = |value: u8| {
        let at = usize::from(value);
        &"0123456789abcdef"[at..=at]
    };
    bytes.utf8_chunks().flat_map(move |chunk| {
        let others = chunk.invalid().iter();
        std::iter::once(chunk.valid())
            .chain(others.flat_map(move |byte| ["\\x", digit(byte >> 4), digit(byte & 15)]))
    })
}

/// Copies a string to a C buffer, cut to `size` bytes including the terminating zero. Returns the length of the whole
/// string in bytes, without the zero.
pub(crate) fn to_c(text: &[u8], place: *mut c_char, size: usize) -> usize {
    if let Some(most) = size.checked_sub(1).filter(|_| !place.is_null()) {
        let mut fits = text.len().min(most);
        // A character is copied whole or not at all. All bytes of a character but the first have the form 10xx xxxx.
        while fits > 0 && text.get(fits).is_some_and(|byte| byte & 0xc0 == 0x80) {
            fits -= 1;
        }
        // SAFETY: the caller guarantees `size` bytes at `place`, and fewer are written. `text` is borrowed, so it
        // cannot overlap these bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast::<u8>(), fits) };
        // SAFETY: as above; the zero follows the copied text within these `size` bytes.
        unsafe { place.wrapping_add(fits).write(0) };
    }
    text.len()
}

/// Records why a call failed, and returns -1.
pub(crate) fn failed(why: &impl ToString) -> i32 {
    // This function may run on a thread that is ending and whose thread-locals are already destroyed.
    let _ = ERROR.try_with(|error| error.replace(why.to_string()));
    -1
}

/// Writes why the last failed call on this thread failed.
#[unsafe(no_mangle)]
extern "C" fn tickscope_error(text: *mut c_char, size: usize) -> usize {
    ERROR
        .try_with(|error| to_c(error.borrow().as_bytes(), text, size))
        .unwrap_or_else(|_| to_c(b"", text, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = |size: usize| {
            let mut buffer = [c_char::MAX; 8];
            let whole = to_c("ab\u{e9}d".as_bytes(), buffer.as_mut_ptr(), size);
            let written = buffer.iter().position(|&byte| byte == 0);
            (whole, written.map(|_| of_c(buffer.as_ptr())))
        };
        assert_eq!(cut(8), (5, Some("ab\u{e9}d".into())));
        assert_eq!(cut(6), (5, Some("ab\u{e9}d".into())));
        assert_eq!(cut(4), (5, Some("ab".into())));
        assert_eq!(cut(1), (5, Some(String::new())));
        assert_eq!(cut(0), (5, None));
        assert_eq!(to_c(b"abc", std::ptr::null_mut(), 5), 3);
        assert_eq!(to_c(&[0x80; 4], [0; 8].as_mut_ptr(), 3), 4);
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        for (text, shown) in [
            (c"caf\xe9", "caf\\xe9"),
            (c"caf\xc3\xa9", "caf\u{e9}"),
            (c"\xff\xfe in \xe2\x82", "\\xff\\xfe in \\xe2\\x82"),
            (c"", ""),
        ] {
            assert_eq!(of_c(text.as_ptr()), shown);
            assert_eq!(of_constant(text.as_ptr()), Some(shown));
        }
        assert_eq!(of_c(std::ptr::null()), String::new());
        assert_eq!(of_constant(std::ptr::null()), Some(""));
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
