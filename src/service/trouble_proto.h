#pragma once

#include "vernier/engine.h"
#include "vernier/v1/study.pb.h"

namespace vernier::service {

void EncodeTrouble(const StudyTrouble& trouble, v1::StudyTrouble* out);

}  // namespace vernier::service
