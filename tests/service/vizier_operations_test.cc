#include <string>

#include "gtest/gtest.h"
#include "src/service/vizier/operations.h"

namespace vernier::vizier {
namespace {

const StudyName kName = {.owner = "ann", .study = "s"};

std::string Added(Operations& operations, std::int64_t study, const std::string& client) {
  google::longrunning::Operation operation;
  operations.Add(StudyId(study), kName, client, operation);
  return operation.name();
}

TEST(VizierOperations, NumbersCountForEachClientOfAStudy) {
  Operations operations(/*most=*/10, /*most_clients=*/10);
  EXPECT_EQ(Added(operations, 1, "w"), "owners/ann/operations/suggestion/s/w/1");
  EXPECT_EQ(Added(operations, 1, "w"), "owners/ann/operations/suggestion/s/w/2");
  EXPECT_EQ(Added(operations, 1, "v"), "owners/ann/operations/suggestion/s/v/1");
  EXPECT_EQ(Added(operations, 1, "w"), "owners/ann/operations/suggestion/s/w/3");
  EXPECT_EQ(Added(operations, 2, "w"), "owners/ann/operations/suggestion/s/w/1");
}

TEST(VizierOperations, AreFoundByNameUntilTheirStudyGoes) {
  Operations operations(/*most=*/10, /*most_clients=*/10);
  const std::string name = Added(operations, 1, "w");
  ASSERT_TRUE(operations.Find(name).has_value());
  EXPECT_EQ(operations.Find(name)->operation.name(), name);
  EXPECT_EQ(operations.Find(name)->study, StudyId(1));
  EXPECT_EQ(operations.Find(name)->name, kName);
  operations.Forget(StudyId(7));
  EXPECT_TRUE(operations.Find(name).has_value());
  operations.Forget(StudyId(1));
  EXPECT_FALSE(operations.Find(name).has_value());
  EXPECT_EQ(Added(operations, 1, "w"), name);
}

TEST(VizierOperations, TheLastAreKept) {
  Operations operations(/*most=*/2, /*most_clients=*/10);
  for (int i = 0; i < 3; ++i) Added(operations, 1, "w");
  EXPECT_FALSE(operations.Find("owners/ann/operations/suggestion/s/w/1").has_value());
  EXPECT_TRUE(operations.Find("owners/ann/operations/suggestion/s/w/2").has_value());
  EXPECT_TRUE(operations.Find("owners/ann/operations/suggestion/s/w/3").has_value());
}

TEST(VizierOperations, TooManyClientsMakeThemStartAgain) {
  Operations operations(/*most=*/10, /*most_clients=*/2);
  Added(operations, 1, "a");
  Added(operations, 2, "b");
  EXPECT_EQ(Added(operations, 2, "b"), "owners/ann/operations/suggestion/s/b/2");
  EXPECT_EQ(Added(operations, 2, "c"), "owners/ann/operations/suggestion/s/c/1");
  EXPECT_FALSE(operations.Find("owners/ann/operations/suggestion/s/b/2").has_value());
  EXPECT_EQ(Added(operations, 2, "b"), "owners/ann/operations/suggestion/s/b/1");
  operations.Forget(StudyId(2));
  EXPECT_EQ(Added(operations, 1, "a"), "owners/ann/operations/suggestion/s/a/1");
}

}  // namespace
}  // namespace vernier::vizier
