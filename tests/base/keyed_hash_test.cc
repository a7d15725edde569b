#include "src/base/keyed_hash.h"

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

}  // namespace
}  // namespace vernier::base
