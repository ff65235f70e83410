//! The pointer to the tree of the calling thread, which each scope reads.
//!
//! The pointer is a `const` thread-local without a destructor, so it is read with one instruction, at any time of a
//! thread's life. In a shared library the compiler would read it by a call (`__tls_get_addr`), twice for each scope.
//! The libraries for C therefore have a thread-local of the model *initial exec* (Ulrich Drepper, ELF Handling For
//! Thread-Local Storage, 4.3), at a fixed distance from the thread pointer. A library that is loaded later takes the
//! space from a reserve of glibc. Other C libraries have no such reserve.

use crate::enabled::record::tree::Tree;

/// The linker's name of the word. Other versions of this library in the same program have other names.
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
    pub(super) fn get() -> Option<&'static Tree> {
        // Not `HOT.get()`, which is a function of its own without link-time optimisation. The word has no destructor, so
        // it is never gone.
        HOT.try_with(Cell::get).ok().flatten()
    }

    pub(super) fn set(tree: Option<&'static Tree>) {
        HOT.set(tree);
    }
}

#[cfg(all(feature = "hooks", target_arch = "x86_64", target_env = "gnu"))]
mod word {
    use std::arch::{asm, global_asm};
    use std::ptr::{self, NonNull};

    use super::Tree;

    /// Loads the word's distance from the thread pointer.
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
    pub(super) fn get() -> Option<&'static Tree> {
        let word: usize;
        // SAFETY: reads the word of the calling thread, whose distance from the thread pointer the loader has written.
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

    pub(super) fn set(tree: Option<&'static Tree>) {
        let word = tree.map_or(0, |tree| ptr::from_ref(tree).expose_provenance());
        // SAFETY: as in `get`. No reference to the word exists.
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

/// Returns the tree of the calling thread while it counts.
#[inline(always)]
pub(crate) fn get() -> Option<&'static Tree> {
    word::get()
}

/// Sets the tree of the calling thread.
pub(crate) fn set(tree: Option<&'static Tree>) {
    word::set(tree);
}
