//! Columns of the timeline: work at the bottom, in the colour of its module, and waits above it. Also the legend of
//! these colours, which is drawn at the end of a line.

use ratatui::layout::Rect;
use tickscope_report::modules::Module;

use crate::app::names::Names;
use crate::app::past::slots::Load;
use crate::text::cells::width;
use crate::ui::theme::{Ground, Meaning};
use crate::ui::view::canvas::Canvas;

/// Loads below this many CPUs are not drawn.
const LEAST: f64 = 0.002;

/// Mark for a column of the timeline that has no data, in Unicode and in ASCII.
const UNKNOWN_TIME: [&str; 2] = ["·", "."];

/// Returns the module of the function with this key.
pub(crate) fn module_of(names: &Names, function: u64) -> Option<&Module> {
    names.modules.get(names.place_of(function)?)
}

/// Returns the colour for the module of the function with this key.
pub(crate) fn ground(names: &Names, function: u64) -> Ground {
    Ground::Module(module_of(names, function).map_or(0, |module| module.hue))
}

/// Returns the colour and the name of each module, without duplicates.
pub(crate) fn each_once(modules: &[&Module]) -> Vec<(Ground, String)> {
    let mut all: Vec<(Ground, String)> = Vec::new();
    for module in modules {
        if !all.iter().any(|(_, name)| *name == module.name) {
            all.push((Ground::Module(module.hue), module.name.clone()));
        }
    }
    all
}

/// Draws one column of the timeline: work at the bottom, waits above.
pub(crate) fn column(
    canvas: &mut Canvas<'_>,
    names: &Names,
    load: Option<Load>,
    most: f64,
    area: Rect,
    is_chosen: bool,
) {
    let fills = canvas.fills();
    let below = (is_chosen && fills).then_some(Ground::Faded);
    let Some(load) = load else {
        let mark = UNKNOWN_TIME[usize::from(canvas.ascii)];
        canvas.put(area.x, area.bottom() - 1, 1, mark, Meaning::Rule);
        return;
    };
    // An eighth of a cell stays free at the top, so that a full column does not touch the line above the chart.
    let full = u32::from(area.height) * 8 - 1;
    let eighths = |part: f64| {
        let exact = (part / most * f64::from(full)).round() as u32;
        exact.max(u32::from(part >= LEAST)).min(full)
    };
    let worked = eighths(load.working);
    let all = match load.waiting >= LEAST {
        true => eighths(load.working + load.waiting).max((worked + 1).min(full)),
        false => worked,
    };
    let ground = ground(names, load.function);
    for line in 0..area.height {
        let y = area.bottom() - 1 - line;
        let part = |eighths: u32| eighths.saturating_sub(u32::from(line) * 8).min(8);
        let (worked, all) = (part(worked), part(all));
        let one = Rect::new(area.x, y, 1, 1);
        if !fills {
            let [off_cpu, little] = canvas.glyphs.off_cpu;
            let text = match (worked, all) {
                (0, 0) => " ",
                (0, 1..=3) => little,
                (0, _) => off_cpu,
                _ => height_glyph(canvas, worked),
            };
            canvas.put(area.x, y, 1, text, Meaning::Plain);
            continue;
        }
        let upper = if all > worked && all - worked >= (8 - worked).div_ceil(2) {
            Some(Ground::Waiting)
        } else {
            below
        };
        match (worked, all) {
            (8, _) => canvas.fill(one, ground, false),
            (0, 8) => canvas.fill(one, Ground::Waiting, false),
            (0, 0) => match below {
                Some(below) => canvas.fill(one, below, false),
                None => canvas.clear(one),
            },
            (0, all) => canvas.block(area.x, y, height_glyph(canvas, all), Ground::Waiting, below),
            (worked, _) => canvas.block(area.x, y, height_glyph(canvas, worked), ground, upper),
        }
    }
}

fn height_glyph(canvas: &Canvas<'_>, eighths: u32) -> &'static str {
    let heights = canvas.glyphs.heights;
    let most = heights.len() - 1;
    heights[(eighths as usize * most).div_ceil(8).min(most)]
}

/// Draws colours and their names at the end of a line, as many as fit to the right of cell `from`. If `waits`, adds the
/// colour for time off the CPU, which is the last one to be left out.
pub(crate) fn legend(
    canvas: &mut Canvas<'_>,
    all: Vec<(Ground, String)>,
    waits: bool,
    area: Rect,
    from: u16,
) {
    let mut room = area.right().saturating_sub(from + 1);
    let mut fit = Vec::new();
    let waits = waits.then(|| (Ground::Waiting, "off the CPU".to_string()));
    for (ground, name) in waits.into_iter().chain(all) {
        let name = canvas.safe(&name).into_owned();
        let cells = width(&name) as u16 + 5;
        if cells > room {
            break;
        }
        room -= cells;
        fit.push((ground, name));
    }
    let cells: u16 = fit.iter().map(|(_, name)| width(name) as u16 + 5).sum();
    let mut x = area.right().saturating_sub(cells) + 1;
    // Time off the CPU was added first so that it is sure to fit, but it is drawn last.
    if fit.first().is_some_and(|(ground, _)| *ground == Ground::Waiting) {
        fit.rotate_left(1);
    }
    for (ground, name) in fit {
        canvas.fill(Rect::new(x, area.y, 2, 1), ground, false);
        x = canvas.put(x + 3, area.y, u16::MAX, &name, Meaning::Quiet) + 2;
    }
}
