#include "src/base/keyed_hash.h"

#include <set>

#include "gtest/gtest.h"

namespace vernier::base {
namespace {

// RFC 4231, test case 2.
TEST(KeyedHash, IsHmacWithSha256) {
  EXPECT_EQ(KeyedHash("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_NE(KeyedHash("Jeff", "what do ya want for nothing?"),
            KeyedHash("Jefe", "what do ya want for nothing?"));
}

TEST(KeyedHash, SecretsAreTheSameOrNot) {
  EXPECT_TRUE(IsSameSecret("", ""));
  EXPECT_TRUE(IsSameSecret("abc", "abc"));
  EXPECT_FALSE(IsSameSecret("abc", "abd"));
  EXPECT_FALSE(IsSameSecret("abc", "ab"));
}

TEST(KeyedHash, RandomTextsDiffer) {
  std::set<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.insert(RandomHex(32));
  EXPECT_EQ(texts.size(), 100);
  EXPECT_EQ(texts.begin()->size(), 64);
}

}  // namespace
}  // namespace vernier::base
