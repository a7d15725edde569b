#include "src/cli/terminal/fields.h"

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

TEST(Fields, KeepTwelveColumnsForShortNames) {
  Fields fields;
  fields.Add("state", "COMPLETED");
  fields.Add("", "and more");
  fields.Add("proposed by", "user");
  EXPECT_EQ(fields.Text(), "state       COMPLETED\n            and more\nproposed by user\n");
}

TEST(Fields, LeaveTwoBlanksAfterTheLongestName) {
  Fields fields;
  fields.Add("state", "COMPLETED");
  fields.Add("val_accuracy", "0.9267");
  EXPECT_EQ(fields.Text(), "state         COMPLETED\nval_accuracy  0.9267\n");
}

TEST(Fields, LetAnEndlessNameMoveItsOwnValueOnly) {
  Fields fields;
  fields.Add("state", "COMPLETED");
  fields.Add(std::string(60, 'm'), "1");
  EXPECT_EQ(fields.Text(), "state       COMPLETED\n" + std::string(60, 'm') + "  1\n");
}

TEST(Fields, MeasureNamesInColumnsOfTheTerminal) {
  Fields fields;
  fields.Add("genauigkeit_für_ä", "1");
  fields.Add("loss", "2");
  EXPECT_EQ(fields.Text(), "genauigkeit_für_ä  1\nloss               2\n");
}

}  // namespace
}  // namespace vernier::cli
