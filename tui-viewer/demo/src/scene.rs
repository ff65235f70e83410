//! The sphereflake: its construction, and its intersections with rays.
//!
//! The scene is the sphereflake from Eric Haines's Standard Procedural Databases: a sphere carries nine spheres that
//! are each a third of its size, and so on. All descendants of a sphere lie within twice its radius (1 + 2/3 + 2/9 +
//! ... = 2). The spheres are stored in one array, each before its descendants, with a link to the next sphere that is
//! not a descendant. If a ray misses a bounding sphere, the search follows this link, so it needs no stack. This
//! layout, and the angles of the rings, come from Thierry Berger-Perrin's compact sphereflake.

use std::f64::consts::TAU;

use crate::probe;
use crate::probe::{Plain, Probe};
use crate::vector::Vector;

/// The direction of the root's upper children.
const ROOT_AXIS: Vector = Vector::new(0.25, 1.0, -0.5);
/// The radius of a child, as a fraction of its parent's radius.
const CHILD_RADIUS: f64 = 1.0 / 3.0;
/// For each ring: its height along the parent's axis before the directions are normalised, the number of children, and the
/// angle of the first child as a fraction of a full turn. The number of shadow rays that tests expect depends on these.
const RINGS: [(f64, u32, f64); 2] = [(-0.2, 6, 0.0), (0.6, 3, -1.0 / 18.0)];

/// A half-line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) origin: Vector,
    /// The direction, of length 1.
    pub(crate) direction: Vector,
}

/// A point of the scene's surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) point: Vector,
    /// The surface normal, pointing out of the sphere, of length 1.
    pub(crate) normal: Vector,
}

/// All spheres of a sphereflake, in an order in which rays can be traced quickly.
#[derive(Debug)]
pub struct Scene {
    nodes: Vec<Node>,
}

/// A sphere, and a bounding sphere that encloses it and all its descendants.
#[derive(Debug)]
struct Node {
    bound: Sphere,
    sphere: Sphere,
    /// The index of the first node after this one that is not its descendant.
    skip: usize,
}

#[derive(Clone, Copy, Debug)]
struct Sphere {
    centre: Vector,
    radius: f64,
}

impl Scene {
    /// Builds a sphereflake of `level` levels, where 0 counts as 1. With 6 levels, it has the 66 430 spheres of the
    /// reference workload.
    pub fn build<P: Probe>(level: u32) -> Self {
        Self::build_along::<P>(level, ROOT_AXIS)
    }

    /// Builds a sphereflake whose root's upper children point along `axis`, which must have at least two nonzero components.
    pub fn build_along<P: Probe>(level: u32, axis: Vector) -> Self {
        let mut nodes = Vec::new();
        let root = Sphere {
            centre: Vector::new(0.0, 0.0, 0.0),
            radius: 1.0,
        };
        create::<P>(&mut nodes, level, root, axis.normalised());
        Self { nodes }
    }

    /// Builds a sphereflake with a single scope, instead of one for each sphere.
    pub(crate) fn grow(level: u32, axis: Vector) -> Self {
        tickscope::scope!("grow");
        let scene = Self::build_along::<Plain>(level, axis);
        tickscope::gauge!("spheres", scene.spheres());
        scene
    }

    /// Returns the number of spheres.
    pub fn spheres(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nearest point of the surface on a ray that begins outside the scene.
    pub(crate) fn intersect_primary<P: Probe>(&self, ray: &Ray) -> Option<Hit> {
        probe!(P, "intersect_primary");
        self.nearest_on(ray)
    }

    /// Returns whether a ray hits any sphere.
    pub(crate) fn intersect_shadow<P: Probe>(&self, ray: &Ray) -> bool {
        probe!(P, "intersect_shadow");
        self.is_met_by(ray)
    }

    /// Finds the nearest point of the surface on each ray, with a single scope for all rays.
    pub(crate) fn nearest(&self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        tickscope::scope!(group = "rays", "nearest");
        hits.clear();
        hits.extend(rays.iter().map(|ray| self.nearest_on(ray)));
    }

    /// Finds out which rays hit any sphere, with a single scope for all rays.
    pub(crate) fn shadows(&self, rays: &[Ray], met: &mut Vec<bool>) {
        tickscope::scope!(group = "rays", "shadows");
        met.clear();
        met.extend(rays.iter().map(|ray| self.is_met_by(ray)));
    }

    #[inline(always)]
    fn is_met_by(&self, ray: &Ray) -> bool {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if node.bound.distance(ray) == f64::INFINITY {
                index = node.skip;
                continue;
            }
            if node.sphere.distance(ray) < f64::INFINITY {
                return true;
            }
            index += 1;
        }
        false
    }

    #[inline(always)]
    fn nearest_on(&self, ray: &Ray) -> Option<Hit> {
        let mut nearest = f64::INFINITY;
        let mut found = None;
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if node.bound.distance(ray) >= nearest {
                index = node.skip;
                continue;
            }
            let distance = node.sphere.distance(ray);
            if distance < nearest {
                nearest = distance;
                found = Some(node);
            }
            index += 1;
        }
        let sphere = found?.sphere;
        let point = ray.origin + ray.direction * nearest;
        Some(Hit {
            point,
            normal: (point - sphere.centre) * (1.0 / sphere.radius),
        })
    }
}

impl Sphere {
    /// Returns the distance along the ray to the sphere's front, or to its back if the ray begins inside; infinity if
    /// the ray misses the sphere.
    fn distance(&self, ray: &Ray) -> f64 {
        let to_centre = self.centre - ray.origin;
        let along = to_centre.dot(ray.direction);
        let squared = along * along - to_centre.dot(to_centre) + self.radius * self.radius;
        if squared < 0.0 {
            return f64::INFINITY;
        }
        let half_chord = squared.sqrt();
        let back = along + half_chord;
        if back < 0.0 {
            return f64::INFINITY;
        }
        let front = along - half_chord;
        if front > 0.0 { front } else { back }
    }
}

/// Adds a sphere and, unless this is the last level, its nine children with their descendants.
fn create<P: Probe>(nodes: &mut Vec<Node>, level: u32, sphere: Sphere, axis: Vector) {
    probe!(P, "create");
    let own = nodes.len();
    let bound = Sphere {
        radius: sphere.radius * 2.0,
        ..sphere
    };
    nodes.push(Node {
        bound,
        sphere,
        skip: own + 1,
    });
    if level <= 1 {
        return;
    }
    let (right, ahead) = basis::<P>(axis);
    let radius = sphere.radius * CHILD_RADIUS;
    for (height, children, first) in RINGS {
        for child in 0..children {
            let (sine, cosine) = (TAU * (first + f64::from(child) / f64::from(children))).sin_cos();
            let direction = (axis * height + right * sine + ahead * cosine).normalised();
            let centre = sphere.centre + direction * (sphere.radius + radius);
            create::<P>(nodes, level - 1, Sphere { centre, radius }, direction);
        }
    }
    nodes[own].skip = nodes.len();
}

/// Returns two directions that are perpendicular to `axis` and to each other.
///
/// Both have the same length, which is usually not 1; the directions that are made from them are normalised later.
fn basis<P: Probe>(axis: Vector) -> (Vector, Vector) {
    probe!(P, "basis");
    // Any direction that is not parallel to the axis would do. Negating the largest component gives one, unless the others are 0.
    let (x, y, z) = (axis.x.abs(), axis.y.abs(), axis.z.abs());
    let aside = if x >= y && x >= z {
        Vector { x: -axis.x, ..axis }
    } else if y >= z {
        Vector { y: -axis.y, ..axis }
    } else {
        Vector { z: -axis.z, ..axis }
    };
    let ahead = axis.cross(aside);
    (axis.cross(ahead), ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Plain;

    /// Returns a fan of rays that begins in front of the scene. Some of the rays miss the scene.
    fn rays() -> impl Iterator<Item = Ray> {
        let origin = Vector::new(0.3, -0.2, -4.0);
        (0..4096).map(move |number| {
            let (column, row) = (f64::from(number % 64), f64::from(number / 64));
            let direction = Vector::new(column / 50.0 - 0.64, row / 50.0 - 0.64, 1.0).normalised();
            Ray { origin, direction }
        })
    }

    #[test]
    fn skipping_misses_no_sphere() {
        let scene = Scene::build::<Plain>(4);
        for ray in rays() {
            let all = scene.nodes.iter().map(|node| node.sphere.distance(&ray));
            let nearest = all.fold(f64::INFINITY, f64::min);
            let hit = scene.intersect_primary::<Plain>(&ray);
            let expected = (nearest < f64::INFINITY).then(|| ray.origin + ray.direction * nearest);
            assert_eq!(hit.map(|hit| hit.point), expected);
            assert_eq!(scene.intersect_shadow::<Plain>(&ray), expected.is_some());
        }
    }

    #[test]
    fn a_child_touches_its_parent() {
        let scene = Scene::build::<Plain>(3);
        let [parent, children @ ..] = &scene.nodes[..] else {
            panic!("there is a root")
        };
        let mut child = 0;
        for _ in 0..9 {
            let between = children[child].sphere.centre - parent.sphere.centre;
            let radii = children[child].sphere.radius + parent.sphere.radius;
            assert!((between.dot(between).sqrt() - radii).abs() < 1e-12);
            child = children[child].skip - 1;
        }
        assert_eq!(child, children.len());
    }
}
