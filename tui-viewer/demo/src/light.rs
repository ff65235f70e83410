//! Brightness of the points that rays have found.

use std::ops::Deref;

use crate::scene::{Hit, Ray, Scene};
use crate::sphereflake::Frame;

/// Buffers of [`shade`]. They are kept from tile to tile, so that tiles allocate nothing.
#[derive(Debug, Default)]
pub(crate) struct Lit {
    /// Points on the light's side, which are bright unless they are in shadow: index of the hit, and brightness.
    points: Vec<(usize, f64)>,
    rays: Vec<Ray>,
    is_met: Vec<bool>,
}

/// Finds the brightness at the ends of rays: 0 if a ray misses the scene or ends in shadow. Points that face away from
/// the light need no shadow ray.
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
