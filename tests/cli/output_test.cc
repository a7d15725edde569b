#include "src/cli/terminal/output.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

std::string ListAs(Format format, bool headers = true) {
  std::ostringstream out;
  Console console = {.out = out, .err = out};
  Output output(console, {.format = format, .headers = headers});
  Table table({{.name = "A"}});
  table.AddRow({{"1"}});
  output.List(table, ordered_json::array({{{"a", 1}, {"b", {{"c", "x,\"y\""}}}}}));
  return out.str();
}

TEST(Output, GivesAListInEveryForm) {
  EXPECT_EQ(ListAs(Format::kTable), "A\n1\n");
  EXPECT_EQ(ListAs(Format::kTable, false), "1\n");
  EXPECT_EQ(ListAs(Format::kJsonl), "{\"a\":1,\"b\":{\"c\":\"x,\\\"y\\\"\"}}\n");
  EXPECT_EQ(ListAs(Format::kCsv), "a,b.c\n1,\"x,\"\"y\"\"\"\n");
  EXPECT_EQ(ListAs(Format::kCsv, false), "1,\"x,\"\"y\"\"\"\n");
  EXPECT_EQ(ordered_json::parse(ListAs(Format::kJson)).size(), 1U);
}

TEST(Output, SaysNothingToPrograms) {
  std::ostringstream out;
  Console console = {.out = out, .err = out};
  Output(console, {.format = Format::kJson}).Say("hello");
  EXPECT_EQ(out.str(), "");
  Output(console, {.format = Format::kTable}).Say("hello");
  EXPECT_EQ(out.str(), "hello\n");
}

TEST(ParseFormat, KnowsFive) {
  EXPECT_EQ(ParseFormat("yaml"), Format::kYaml);
  EXPECT_EQ(ParseFormat("xml"), std::nullopt);
}

TEST(Flatten, JoinsPathsAndPlainListsAndDropsListsOfObjects) {
  const ordered_json object = {{"a", {{"b", 1}}},
                               {"list", {1, "x"}},
                               {"objects", {{{"k", 1}}}},
                               {"empty", ordered_json::array()}};
  EXPECT_EQ(Flatten(object).dump(), R"({"a.b":1,"list":"1 x","empty":""})");
}

TEST(ToCsv, GivesEveryRowTheColumnsOfAll) {
  const auto rows = ordered_json::array({{{"a", 1}}, {{"b", nullptr}, {"a", 2}}});
  EXPECT_EQ(ToCsv(rows, true), "a,b\n1,\n2,\n");
  EXPECT_EQ(ToCsv(ordered_json::array(), true), "");
}

TEST(ToJsonLine, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(ToJsonLine(ordered_json("a\xff")), "\"a\uFFFD\"");
}

}  // namespace
}  // namespace vernier::cli
