//! Runs before `main`: reads the function table, and switches on the sleds of the functions to be measured.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use tickscope_format::function_choice::{Chooser, Chosen};
use tickscope_format::function_table::{FunctionRef, FunctionTable, Origin, SECTION};
use tickscope_format::snapshot::FunctionChoice;

use crate::enabled::functions::trampolines;
use crate::enabled::platform::modules::Loaded;
use crate::enabled::platform::sleds::Sled;
use crate::enabled::platform::threads;
use crate::enabled::record::current_thread;
use crate::enabled::record::function_sites::{self, Function, PolledBy};
use crate::enabled::record::mode_switch;
use crate::enabled::record::site::Site;
use crate::enabled::runtime::function_choice;
use crate::enabled::runtime::learned;
use crate::enabled::runtime::settings::Settings;

/// Section in which the compiler lists the sleds. If it is missing, no function has sleds.
const MAP: &str = "xray_instr_map";

/// The loader calls the functions in this section in order of their priorities.
#[used]
#[unsafe(link_section = ".init_array.00900")]
static BEGIN: extern "C" fn() = begin;

// All copies of this library in an image share this word, and only the first copy handles the functions. The number in
// the word's name is the version of this convention.
std::arch::global_asm!(
    ".weak tickscope_functions_taken_1",
    ".hidden tickscope_functions_taken_1",
    ".pushsection .bss.tickscope_functions_taken_1,\"aw\",@nobits",
    ".balign 4",
    "tickscope_functions_taken_1:",
    ".zero 4",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "tickscope_functions_taken_1"]
    static TAKEN: AtomicU32;
}

extern "C" fn begin() {
    // SAFETY: the word is defined above, and zero is a valid value.
    let taken = unsafe { &TAKEN };
    if taken.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    let _own = current_thread::own_work();
    if let Some(choice) = function_choice::of_environment()
        && let Err(why) = load(choice)
    {
        // The reason is printed, because a program without scopes has no session that could report it.
        let _ = writeln!(std::io::stderr(), "tickscope: functions are not counted: {why}");
        function_sites::note_missing(why);
    }
}

/// Registers the functions of this image, and switches on the functions to be measured.
fn load(choice: FunctionChoice) -> Result<(), String> {
    if !trampolines::can_keep_state() {
        return Err("this CPU or system has no XSAVE".into());
    }
    let image = Loaded::own().ok_or("the loader does not list this program")?;
    let Some(bytes) = image.section(SECTION) else {
        if image.section(MAP).is_none() && !function_choice::is_asked_for() {
            // The program was built without `cargo tickscope`, and another crate in its workspace has enabled the
            // feature.
            return Ok(());
        }
        return Err(format!(
            "{} has no section {SECTION}; build it with cargo tickscope",
            image.path().display()
        ));
    };
    // The functions' names point into the table for as long as the program runs, so the table is leaked.
    let bytes: &'static [u8] = bytes.leak();
    let table = FunctionTable::read(bytes).map_err(|error| error.to_string())?;
    let (mut functions, mut sleds) = (
        Vec::with_capacity(table.len()),
        Vec::with_capacity(table.sled_count()),
    );
    let chooser = Chooser::of(&choice);
    let mut before: Option<(u32, FunctionRef<'_>)> = None;
    for (index, number) in (0..table.len()).zip(0..) {
        let Some(function) = table.get(index) else { break };
        // Functions with the same name and source position are adjacent in the table. Any of them may poll a given
        // future, so futures are registered under the first.
        let same = before.filter(|(_, other)| is_same(other, &function));
        let first = same.map_or(number, |(first, _)| first);
        before = Some((first, function));
        let site = Site::named(function.name, function.module, function.file, function.line);
        if function.poll.is_some() {
            site.note_future();
        }
        let site = if chooser.look(&function) == Chosen::On {
            site
        } else {
            site.off_by_default()
        };
        let polls = function.poll.map(|of| PolledBy { first, of });
        functions.push(Function::new(site, polls, function.origin == Origin::Own));
        sleds.extend(table.sleds(index).map(|sled| Sled {
            at: image.base.wrapping_add(sled.address as usize),
            kind: sled.kind,
            number,
            polls: function.poll.is_some(),
        }));
    }
    let budget = function_choice::budget();
    let mode = Settings::default().with_environment().mode;
    let mode = mode.unwrap_or_else(|| mode_switch::newest().mode);
    let (forget, known) = (function_choice::relearns(), functions.len());
    let recalled = budget.map_or(&[][..], |budget| {
        learned::recall(bytes, known, budget, mode, forget)
    });
    // SAFETY: the table was made from the compiler's sled map of this very file, and the trampolines preserve all
    // registers.
    unsafe { function_sites::set(functions, sleds, trampolines::trampolines(), choice) };
    for of in recalled {
        if let Some(site) = function_sites::get(of.number) {
            site.set_over_budget(true);
        }
    }
    function_sites::follow(threads::is_only_thread());
    Ok(())
}

fn is_same(one: &FunctionRef<'_>, other: &FunctionRef<'_>) -> bool {
    (one.line, one.name, one.module, one.file) == (other.line, other.name, other.module, other.file)
}
