#include "src/base/random_hex.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace vernier::base {
namespace {

TEST(RandomHex, TextsDiffer) {
  std::set<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.insert(RandomHex(32));
  EXPECT_EQ(texts.size(), 100);
  EXPECT_EQ(texts.begin()->size(), 64);
}

}  // namespace
}  // namespace vernier::base
