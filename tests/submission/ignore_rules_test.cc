#include "src/submission/ignore_rules.h"

#include <string>

#include "gtest/gtest.h"

namespace vernier::submission {
namespace {

struct Case {
  const char* rules;
  const char* path;
  bool is_folder;
  bool ignored;
};

class IgnoreRulesTest : public ::testing::TestWithParam<Case> {};

TEST_P(IgnoreRulesTest, DecidesAsGitDoes) {
  const auto& [rules, path, is_folder, ignored] = GetParam();
  EXPECT_EQ(IgnoreRules(rules).Ignores(path, is_folder), ignored) << rules << " | " << path;
}

INSTANTIATE_TEST_SUITE_P(All,
                         IgnoreRulesTest,
                         ::testing::Values(Case{"", "a", false, false},
                                           Case{"# a\n\n", "a", false, false},
                                           Case{"*.pyc", "a/b/c.pyc", false, true},
                                           Case{"*.pyc", "c.pyx", false, false},
                                           Case{"data", "data", true, true},
                                           Case{"data", "src/data", false, true},
                                           Case{"data/", "data", false, false},
                                           Case{"data/", "src/data", true, true},
                                           Case{"/data", "data", true, true},
                                           Case{"/data", "src/data", true, false},
                                           Case{"src/data", "src/data", true, true},
                                           Case{"src/data", "lib/src/data", true, false},
                                           Case{"src/*", "src/a/b", false, false},
                                           Case{"src/*", "src/a", true, true},
                                           Case{"src/**", "src/a/b", false, true},
                                           Case{"src/**", "src", true, false},
                                           Case{"**/cache", "a/b/cache", true, true},
                                           Case{"**/cache", "cache", true, true},
                                           Case{"a/**/b", "a/b", false, true},
                                           Case{"a/**/b", "a/x/y/b", false, true},
                                           Case{"a/**/b", "a/x/y/c", false, false},
                                           Case{"*.log\n!keep.log", "keep.log", false, false},
                                           Case{"!keep.log\n*.log", "keep.log", false, true},
                                           Case{"model-[0-9].h5", "model-7.h5", false, true},
                                           Case{"model-[0-9].h5", "model-x.h5", false, false},
                                           Case{"a.txt  ", "a.txt", false, true},
                                           Case{"a.txt\r\nb.txt\r\n", "a.txt", false, true},
                                           Case{"/", "a", true, false}));

}  // namespace
}  // namespace vernier::submission
