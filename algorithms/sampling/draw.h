#pragma once

#include <cstddef>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithms/sampling/taken_points.h"
#include "vernier/core/rng.h"
#include "vernier/core/space.h"

namespace vernier::sampling {

// Draws a legal point that satisfies the constraints and is not taken, uniformly from the unit cube (each parameter on
// its scale). Deterministic; advances `rng`.
//
// Tries rejection first. If that fails, since nearly all points are taken or violate a constraint, it is no longer
// uniform: a small finite space is enumerated, and one of the remaining points is chosen uniformly; otherwise draws are
// pulled to the edges of the cube and to points that satisfy the constraints; at last a large finite space is searched
// completely. So in a finite space a remaining point is always found.
//
// Points with an active continuous parameter are not compared with those of the same study: they repeat with
// probability 0.
// OutOfRange (kSpaceExhausted): no point remains, or, in an infinite space, none was found.  Cancelled: `stop` fired.
absl::StatusOr<Point> DrawUntaken(const Space& space,
                                  const TakenPoints& taken,
                                  Rng& rng,
                                  const std::stop_token& stop);

// Whether a point may be proposed: it satisfies the constraints, is not taken (see above), and was not tried by an
// earlier study.
// REQUIRES: the point is legal.
bool IsFresh(const Space& space, const TakenPoints& taken, const Point& point);

// Returns the status for an exhausted space: OutOfRange (kSpaceExhausted).
absl::Status Exhausted(const Space& space);

}  // namespace vernier::sampling
