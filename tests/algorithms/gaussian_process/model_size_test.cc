#include "algorithms/gaussian_process/model/model_size.h"

#include "gtest/gtest.h"

namespace vernier::gp {
namespace {

std::optional<ModelSize> Size(std::size_t models, std::size_t parameters) {
  return Affordable({.models = models, .groups = parameters, .columns = parameters}, ModelSize());
}

TEST(ModelSize, CommonStudiesAreNotCut) {
  EXPECT_EQ(Size(2, 10), ModelSize());
  EXPECT_EQ(Size(2, 80), ModelSize());
  EXPECT_EQ(Size(5, 10), ModelSize());
}

TEST(ModelSize, ShrinksAsMetricsAndParametersGrow) {
  std::size_t fitted = ModelSize().fitted;
  std::size_t points = ModelSize().points;
  for (const std::size_t models : {2, 10, 30, 100}) {
    const std::optional<ModelSize> size = Size(models, 40);
    ASSERT_TRUE(size.has_value()) << models;
    EXPECT_LE(size->fitted, fitted);
    EXPECT_LE(size->points, points);
    fitted = size->fitted;
    points = size->points;
  }
  EXPECT_LT(fitted, ModelSize().fitted);
  EXPECT_LT(points, ModelSize().points);
  EXPECT_GE(fitted, 50u);
  EXPECT_FALSE(Size(102, 1000).has_value());
}

TEST(ModelSize, FewerTrialsThanItCouldAreTakenAtTheirWord) {
  const ModelSize ten = {.points = 10, .fitted = 10};
  EXPECT_EQ(Affordable({.models = 2, .groups = 3, .columns = 3}, ten), ten);
}

}  // namespace
}  // namespace vernier::gp
