#include "algorithms/early_stopping/predicted_end.h"

#include "algorithms/numerics/normal.h"

namespace vernier {

double PredictedEnd::Below(double limit) const {
  double probability = 0;
  for (const Component& each : components) {
    probability += each.weight * numerics::NormalCdf((limit - each.mean) / each.deviation);
  }
  return probability;
}

double PredictedEnd::Above(double limit) const {
  double probability = 0;
  for (const Component& each : components) {
    probability += each.weight * numerics::NormalCdf((each.mean - limit) / each.deviation);
  }
  return probability;
}

}  // namespace vernier
