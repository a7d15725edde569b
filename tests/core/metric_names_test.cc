#include "src/core/metric_names.h"

#include "gtest/gtest.h"

namespace vernier {
namespace {

TEST(CompareMetricNames, RanksNamesByHowMuchTheyAreAlike) {
  EXPECT_EQ(CompareMetricNames("val_acc", "Val-Acc"), NameLikeness::kSame);
  EXPECT_EQ(CompareMetricNames("acc", "val_acc"), NameLikeness::kEnd);
  EXPECT_EQ(CompareMetricNames("val_acc", "acc"), NameLikeness::kEnd);
  EXPECT_EQ(CompareMetricNames("accuracy", "acuracy"), NameLikeness::kSlip);
  EXPECT_EQ(CompareMetricNames("val_accuracy", "val_acc"), NameLikeness::kShortForm);
  EXPECT_EQ(CompareMetricNames("val_accuracy", "train_acc"), NameLikeness::kSimilarEnd);
}

TEST(CompareMetricNames, KnowsStrangers) {
  EXPECT_EQ(CompareMetricNames("accuracy", "loss"), NameLikeness::kNone);
  EXPECT_EQ(CompareMetricNames("", "loss"), NameLikeness::kNone);
}

}  // namespace
}  // namespace vernier
