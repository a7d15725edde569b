#include "src/cli/init/source_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = ProgramOption::Type;

ProgramOption ReadSource(const std::string& source, const std::string& library = "argparse") {
  HelpText help{.library = library, .options = {{.name = "--x"}}, .commands = {}};
  AddFromSource(source, help);
  return help.options.front();
}

TEST(AddFromSource, ReadsTypeDefaultAndChoices) {
  EXPECT_EQ(ReadSource("p.add_argument('--x', type=float, default=1e-3)").type, Type::kFloat);
  EXPECT_EQ(ReadSource("p.add_argument('--x', type=float, default=1e-3)").fallback, "1e-3");
  EXPECT_EQ(ReadSource("p.add_argument('-y', '--x', default=1_000)").fallback, "1000");
  EXPECT_EQ(ReadSource("p.add_argument(\n  \"--x\",  # a, comment)\n  default='a,b',\n)").fallback,
            "a,b");
  EXPECT_THAT(ReadSource("p.add_argument('--x', choices=['a', \"b\"])").choices,
              ElementsAre("a", "b"));
  EXPECT_THAT(ReadSource("p.add_argument('--x', choices=(1, 2))").choices, ElementsAre("1", "2"));
  EXPECT_EQ(ReadSource("@click.option('--x/--no-x', default=True)", "click").fallback, "True");
  EXPECT_THAT(ReadSource("@click.option('--x', type=click.Choice(['a', 'b']))", "click").choices,
              ElementsAre("a", "b"));
  EXPECT_EQ(ReadSource("flags.DEFINE_float('x', 0.5, 'It.')", "absl").fallback, "0.5");
  EXPECT_EQ(ReadSource("p.add_argument('--x', nargs='+')").obstacle, "takes several values");
}

TEST(AddFromSource, TakesNothingThatIsComputed) {
  EXPECT_EQ(ReadSource("p.add_argument('--x', default=os.cpu_count())").fallback, std::nullopt);
  EXPECT_EQ(ReadSource("p.add_argument('--x', default=None)").fallback, std::nullopt);
  EXPECT_THAT(ReadSource("p.add_argument('--x', choices=list(MODELS))").choices, IsEmpty());
  EXPECT_THAT(ReadSource("p.add_argument('--x', choices=[A, 'b'])").choices, IsEmpty());
}

TEST(AddFromSource, WarnsOfTextsThatAreAlwaysTrue) {
  EXPECT_EQ(ReadSource("p.add_argument('--x', type=bool)").obstacle,
            "has type=bool, which takes every text for true; a flag would be tuned");
}

TEST(AddFromSource, SurvivesWhatIsNoPython) {
  for (const char* const source : {"add_argument(",
                                   "add_argument('--x', default='",
                                   "option(((((",
                                   "DEFINE_float(",
                                   "add_argument(\"\"\"--x",
                                   "add_argument('--x\\"}) {
    EXPECT_EQ(ReadSource(source).fallback, std::nullopt) << source;
  }
}

}  // namespace
}  // namespace vernier::cli
