#pragma once

#include <vector>

namespace vernier {

// What is known of the value with which a curve will end: a mixture of normal distributions.
struct PredictedEnd {
  struct Component {
    double weight = 0;
    double mean = 0;
    double deviation = 0;
  };
  std::vector<Component> components;  // Weights add up to 1.
  double mean = 0;
  double deviation = 0;

  // Probability that the value is below `limit`, or above it. Small ones are exact, too.
  double Below(double limit) const;
  double Above(double limit) const;
};

}  // namespace vernier
