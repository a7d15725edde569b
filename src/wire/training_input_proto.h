#pragma once

#include "vernier/core/training_input.h"
#include "vernier/v1/training_input.pb.h"

namespace vernier::wire {

void EncodeTrainingInput(const TrainingInput& input, v1::TrainingInput* out);
TrainingInput DecodeTrainingInput(const v1::TrainingInput& input);

}  // namespace vernier::wire
