#pragma once

#include "vernier/core/event.h"
#include "vernier/core/rng.h"

// Events and trials made up from a stream of random numbers, with all that they may hold: infinities, -0, the ends of the
// integers, text beyond ASCII. Not NaN, which equals nothing, so that == compares them.
namespace vernier::testing {

double RandomNumber(Rng& rng);
ParameterValue RandomValue(Rng& rng);
Point RandomPoint(Rng& rng);
Measurement RandomMeasurement(Rng& rng);
Trial RandomTrial(Rng& rng, TrialNumber number);
StudySpec RandomSpec(Rng& rng, const std::string& name);
// Of the kind with this index in EventPayload.
EventPayload RandomPayload(Rng& rng, std::size_t kind);

// NaN equals NaN and -0 differs from 0.
bool SameBits(double a, double b);

}  // namespace vernier::testing
