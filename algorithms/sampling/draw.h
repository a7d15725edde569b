#pragma once

#include <cstddef>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithms/sampling/taken_points.h"
#include "vernier/core/rng.h"
#include "vernier/core/space.h"

namespace vernier::sampling {

// A point drawn uniformly on the unit cube (each parameter on its scale), legal, satisfying the constraints, and not
// taken. Deterministic in its arguments; advances `rng`.
//
// Rejection first. Where that keeps failing, because the space is nearly used up or the constraints leave little room:
// a small finite space is enumerated and one of the points left is chosen uniformly; elsewhere draws are pulled to the
// edges of the cube and to points where the constraints are known to hold; a large finite space is searched from end to
// end at last. So in a finite space an untaken legal point is always found, if there is one. Points with an active
// continuous parameter repeat no point of their own study.
// OutOfRange (kSpaceExhausted): there is none, or, in an infinite space, none was found.  Cancelled: `stop` fired.
absl::StatusOr<Point> DrawUntaken(const Space& space,
                                  const TakenPoints& taken,
                                  Rng& rng,
                                  const std::stop_token& stop);

// Whether the point may be proposed: satisfies the constraints, is not taken (see above), and no earlier study tried it.
// REQUIRES: it is legal.
bool IsFresh(const Space& space, const TakenPoints& taken, const Point& point);

// The status for a space that has nothing left: OutOfRange (kSpaceExhausted).
absl::Status Exhausted(const Space& space);

}  // namespace vernier::sampling
