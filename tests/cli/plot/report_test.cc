#include "src/cli/plot/report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::plot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RenderHtml, EscapesEveryTextAndNeedsNothingElse) {
  const std::string evil = "<script>alert('&')</script>";
  Report report = {.title = evil, .subtitle = evil, .sections = {}, .footer = evil};
  report.sections.push_back(
      {.heading = evil,
       .text = evil,
       .facts = {{evil, evil}},
       .figures = {{.title = evil, .empty = evil}},
       .table = {.columns = {{.name = evil}, {.name = "n", .is_number = true}},
                 .rows = {{.cells = {evil, "1"}, .is_best = true}}},
       .code = evil});
  const std::string html = RenderHtml(report);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, HasSubstr("<tr class=\"best\">"));
}

}  // namespace
}  // namespace vernier::plot
