#include "src/metrics/number.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier::metrics {
namespace {

using ::vernier::testing::kInf;
using ::vernier::testing::kNan;

struct NumberCase {
  std::string text;
  std::optional<double> value;  // None: no number.
};

class FindValueTest : public ::testing::TestWithParam<NumberCase> {};

TEST_P(FindValueTest, ReadsTheWholeNumberOrNone) {
  const auto found = FindValue(GetParam().text);
  ASSERT_EQ(found.has_value(), GetParam().value.has_value())
      << GetParam().text << " gives " << (found ? found->value : 0);
  if (!found.has_value()) return;
  if (std::isnan(*GetParam().value)) {
    EXPECT_TRUE(std::isnan(found->value));
  } else {
    EXPECT_EQ(found->value, *GetParam().value);
  }
}

INSTANTIATE_TEST_SUITE_P(Table,
                         FindValueTest,
                         ::testing::ValuesIn(std::vector<NumberCase>{
                             {"0.93", 0.93},
                             {" 0.93 rest", 0.93},
                             {"9.5e-05", 9.5e-05},
                             {"9.5E+3,", 9.5e3},
                             {"-0.25", -0.25},
                             {"+3", 3},
                             {".5", 0.5},
                             {"5.", 5},
                             {"0.5.", 0.5},
                             {"1e400", kInf},
                             {"nan", kNan},
                             {"NaN)", kNan},
                             {"-inf", -kInf},
                             {"Infinity", kInf},
                             {"93.1%", 93.1},
                             {"20ms/step", 20},
                             {"4s", 4},
                             {"0.6931, grad", 0.6931},
                             {"0.5 (0.48)", 0.5},
                             {"\"0.5\"", 0.5},
                             {"'1e-3'", 1e-3},
                             {"tensor(0.5123, device='cuda:0')", 0.5123},
                             {"tensor([0.25])", 0.25},
                             {"np.float64(0.9)", 0.9},
                             {"array(0.125, dtype=float32)", 0.125},
                             {"0,93", std::nullopt},
                             {"0.93,5", std::nullopt},
                             {"1.2.3", std::nullopt},
                             {"45/50", 0.9},
                             {" 9834/10000 (98%)", 0.9834},
                             {"3/4.", 0.75},
                             {"'3/4'", 0.75},
                             {"3/2", 1.5},
                             {"0/50", 0},
                             {"45/0", std::nullopt},
                             {"45/50/60", std::nullopt},
                             {"23/11/2026", std::nullopt},
                             {"45/50.5", std::nullopt},
                             {"4.5/50", std::nullopt},
                             {"45/fifty", 45},
                             {"45/50s", std::nullopt},
                             {"12/30 [00:01<00:02]", std::nullopt},
                             {"1/3 [=====>....]", std::nullopt},
                             {"1234567890123456/2", std::nullopt},
                             {"45 / 50", 45},
                             {"12:30", std::nullopt},
                             {"2026-11-23", std::nullopt},
                             {"0x1f", std::nullopt},
                             {"1e", std::nullopt},
                             {"3_000", std::nullopt},
                             {"info", std::nullopt},
                             {"nano", std::nullopt},
                             {"infra", std::nullopt},
                             {"n/a", std::nullopt},
                             {"--", std::nullopt},
                             {"-", std::nullopt},
                             {".", std::nullopt},
                             {"", std::nullopt},
                             {"high", std::nullopt},
                             {"0.5abcd", std::nullopt},
                         }));

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseNumber("1e-05"), 1e-05);
  EXPECT_EQ(ParseNumber("1e-05 "), std::nullopt);
  EXPECT_EQ(ParseNumber("5%"), std::nullopt);
}

// Every number that a program prints with %.17g or repr is read back bit for bit.
TEST(ParseNumber, ReadsBackWhatWasPrinted) {
  double value = 1.2345678901234567e-300;
  for (int i = 0; i < 600; ++i, value *= -9.87) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    EXPECT_EQ(ParseNumber(text), value) << text;
  }
}

}  // namespace
}  // namespace vernier::metrics
