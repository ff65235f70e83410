//! Brightness of the points that rays hit.

use std::ops::Deref;

use crate::scene::{Hit, Ray, Scene};
use crate::sphereflake::Frame;

/// Buffers of [`shade`]. They are reused for each tile, so that rendering a tile allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Lit {
    /// Points that face the light, so they are bright unless in shadow. For each: the index of its hit, and its brightness.
    points: Vec<(usize, f64)>,
    rays: Vec<Ray>,
    is_met: Vec<bool>,
}

/// Computes the brightness of what each ray hits. It is 0 if a ray misses the scene or the point is in shadow. Points
/// that face away from the light need no shadow ray.
pub(crate) fn shade<S: Deref<Target = Scene>>(
    frame: &Frame<S>,
    hits: &[Option<Hit>],
    lit: &mut Lit,
    brightness: &mut Vec<f64>,
) {
    tickscope::scope!("shade");
    brightness.clear();
    brightness.resize(hits.len(), 0.0);
    lit.points.clear();
    lit.rays.clear();
    for (number, hit) in hits.iter().enumerate() {
        if let Some((bright, ray)) = hit.and_then(|hit| frame.to_light(&hit)) {
            lit.points.push((number, bright));
            lit.rays.push(ray);
        }
    }
    tickscope::value!("lit", lit.rays.len());
    if lit.rays.is_empty() {
        return;
    }
    frame.scene.shadows(&lit.rays, &mut lit.is_met);
    for (&(number, bright), is_met) in lit.points.iter().zip(&lit.is_met) {
        if !is_met {
            brightness[number] = bright;
        }
    }
}
