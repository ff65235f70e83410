//! The calling thread's pointer to its tree, which each scope reads.
//!
//! The pointer is a `const` thread-local without a destructor, so one instruction reads it, at any point in a thread's life. In a
//! shared library, the compiler would call a function to read it (`__tls_get_addr`), twice for each scope. Tickscope's libraries
//! for C programs therefore use the *initial exec* model (Ulrich Drepper, ELF Handling For Thread-Local Storage, 4.3). In this
//! model, the thread-local is at a fixed offset from the thread pointer. When such a library is loaded at run time, glibc
//! takes the space for its thread-local from a reserve. Other libcs have no such reserve.

use crate::enabled::record::tree::Tree;

// `get` returns the tree of the calling thread; `None` while the thread is not counting.
pub(crate) use word::{get, set};

/// Linker symbol of the thread-local word. It includes this library's version, because a program may contain several versions of
/// the library.
#[cfg(all(feature = "hooks", target_arch = "x86_64", target_env = "gnu"))]
macro_rules! hot_tree_name {
    () => {
        concat!(
            "tickscope_hot_tree_",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR"),
            "_",
            env!("CARGO_PKG_VERSION_PATCH")
        )
    };
}
#[cfg(all(feature = "functions", target_arch = "x86_64", target_env = "gnu"))]
pub(crate) use hot_tree_name;

#[cfg(not(all(feature = "hooks", target_arch = "x86_64", target_env = "gnu")))]
mod word {
    use std::cell::Cell;

    use super::Tree;

    thread_local! {
        static HOT: Cell<Option<&'static Tree>> = const { Cell::new(None) };
    }

    #[inline(always)]
    pub(crate) fn get() -> Option<&'static Tree> {
        // Without link-time optimisation, `HOT.get()` would be a function call. `try_with` does not fail, because the word
        // has no destructor.
        HOT.try_with(Cell::get).ok().flatten()
    }

    pub(crate) fn set(tree: Option<&'static Tree>) {
        HOT.set(tree);
    }
}

#[cfg(all(feature = "hooks", target_arch = "x86_64", target_env = "gnu"))]
mod word {
    use std::arch::{asm, global_asm};
    use std::ptr::{self, NonNull};

    use super::Tree;

    /// Loads the thread-local word's offset, relative to the thread pointer, into the operand `$into`.
    macro_rules! load_distance {
        ($into:literal) => {
            concat!(
                "mov {",
                $into,
                "}, qword ptr [rip + ",
                hot_tree_name!(),
                "@GOTTPOFF]"
            )
        };
    }

    global_asm!(
        concat!(".pushsection .tbss.", hot_tree_name!(), ", \"awT\", @nobits"),
        concat!(".globl ", hot_tree_name!()),
        concat!(".hidden ", hot_tree_name!()),
        concat!(".type ", hot_tree_name!(), ", @object"),
        concat!(".size ", hot_tree_name!(), ", 8"),
        ".p2align 3",
        concat!(hot_tree_name!(), ":"),
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(crate) fn get() -> Option<&'static Tree> {
        let word: usize;
        // SAFETY: reads the calling thread's own word, at the offset from the thread pointer that the loader has provided.
        unsafe {
            asm!(
                load_distance!("word"),
                "mov {word}, qword ptr fs:[{word}]",
                word = out(reg) word,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        let tree = NonNull::new(ptr::with_exposed_provenance_mut::<Tree>(word))?;
        // SAFETY: only `set` writes the word, from a reference that lives for ever.
        Some(unsafe { tree.as_ref() })
    }

    pub(crate) fn set(tree: Option<&'static Tree>) {
        let word = tree.map_or(0, |tree| ptr::from_ref(tree).expose_provenance());
        // SAFETY: as in `get`, and there are no references to the word.
        unsafe {
            asm!(
                load_distance!("place"),
                "mov qword ptr fs:[{place}], {word}",
                place = out(reg) _,
                word = in(reg) word,
                options(nostack, preserves_flags),
            );
        }
    }
}
