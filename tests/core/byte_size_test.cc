#include "src/core/byte_size.h"

#include <limits>
#include <optional>

#include "gtest/gtest.h"

namespace vernier {
namespace {

TEST(ByteSize, IsReadInItsUnits) {
  EXPECT_EQ(ParseByteSize("4GiB"), std::int64_t{4} << 30);
  EXPECT_EQ(ParseByteSize("512 MB"), 512'000'000);
  EXPECT_EQ(ParseByteSize("0B"), 0);
  EXPECT_EQ(ParseByteSize("1.5GiB"), std::int64_t{3} << 29);
  EXPECT_EQ(ParseByteSize("0.1 KB"), 100);
  EXPECT_EQ(ParseByteSize("9223372036854775807B"), std::numeric_limits<std::int64_t>::max());
  for (const char* const bad : {"",
                                "4",
                                "GiB",
                                "-1GiB",
                                "+1GiB",
                                ".5GiB",
                                "0.3B",
                                "0.0001KB",
                                "1,5GiB",
                                "1e3GiB",
                                "infGiB",
                                "4gib",
                                "4GiB ",
                                "4  GiB",
                                "9000000TiB",
                                "99999999999999999999B"}) {
    EXPECT_EQ(ParseByteSize(bad), std::nullopt) << bad;
  }
}

TEST(ByteSize, SaysWhyATextIsNoAmount) {
  EXPECT_EQ(ProblemOfAmount("4GiB"), "");
  EXPECT_EQ(ProblemOfAmount("5B"), "");
  EXPECT_EQ(ProblemOfAmount("1048576"), "");
  EXPECT_EQ(ProblemOfAmount("1048575"), "1048575 counts bytes; write a size such as 1048575GiB");
  EXPECT_EQ(ProblemOfAmount("4G"), "must be a size such as 4GiB, got '4G'");
  EXPECT_EQ(ProblemOfAmount("0"), "must be a size such as 4GiB, got '0'");
  EXPECT_EQ(ProblemOfAmount("-1GiB"), "must be a size such as 4GiB, got '-1GiB'");
}

TEST(ByteSize, SaysWhichSizeMayBeMeant) {
  EXPECT_EQ(ExpectedByteSize("2G"), "a size such as 2GiB");
  EXPECT_EQ(ExpectedByteSize("1.5 gib"), "a size such as 1.5GiB");
  EXPECT_EQ(ExpectedByteSize("512mb"), "a size such as 512MB");
  EXPECT_EQ(ExpectedByteSize("99999999999TiB"), "a size of at most 8388607TiB");
  EXPECT_EQ(ExpectedByteSize("99999999999999999999B"), "a size of at most 8388607TiB");
  for (const char* text : {"", "G", "4 gigs", "-1GiB", "0.3B", "99999999999T"}) {
    EXPECT_EQ(ExpectedByteSize(text), "a size such as 4GiB") << text;
  }
}

TEST(ByteSize, IsWrittenInTheLargestUnitThatDividesIt) {
  EXPECT_EQ(FormatByteSize(std::int64_t{4} << 30), "4GiB");
  EXPECT_EQ(FormatByteSize(3 << 19), "1536KiB");
  EXPECT_EQ(FormatByteSize(5'000'000), "5MB");
  EXPECT_EQ(FormatByteSize(4097), "4097");
  EXPECT_EQ(FormatByteSize(0), "0");
}

}  // namespace
}  // namespace vernier
