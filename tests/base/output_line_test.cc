#include "src/base/output_line.h"

#include <string>

#include "gtest/gtest.h"

namespace vernier::base {
namespace {

TEST(OutputLine, ReadsTimeStreamAndText) {
  const std::string line = "2026-11-21T04:12:13.123456Z O val_acc=0.9 ";
  const auto parsed = ParseOutputLine(line);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(absl::ToUnixMicros(parsed->time), 1795234333123456);
  EXPECT_FALSE(parsed->is_error);
  EXPECT_EQ(parsed->text, "val_acc=0.9 ");
  const auto error = ParseOutputLine("2026-11-21T04:12:13.000000Z E ");
  ASSERT_TRUE(error.has_value());
  EXPECT_TRUE(error->is_error);
  EXPECT_EQ(error->text, "");
}

TEST(OutputLine, RefusesTornAndForeignLines) {
  const std::string sound = "2026-11-21T04:12:13.123456Z O x";
  for (std::size_t length = 0; length < sound.size() - 1; ++length) {
    EXPECT_FALSE(ParseOutputLine(sound.substr(0, length)).has_value()) << length;
  }
  EXPECT_FALSE(ParseOutputLine("2026-11-21T04:12:13.123456Z X x").has_value());
  EXPECT_FALSE(ParseOutputLine("2026-11-21T04:12:13.123456Z-O x").has_value());
  EXPECT_FALSE(ParseOutputLine("2026-11-21T04:12:13.123456Z O-x").has_value());
  EXPECT_FALSE(ParseOutputLine("2026-13-21T04:12:13.123456Z O x").has_value());
}

}  // namespace
}  // namespace vernier::base
