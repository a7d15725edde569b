#include "algorithms/numerics/normal.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gtest/gtest.h"

namespace vernier::numerics {
namespace {

// Computed with mpmath 1.3 at 60 digits: h = phi + z Phi, by erfc, and below z = -50 by 400 terms of the continued
// fraction of Mills' ratio; rounded to 20 digits.
struct Reference {
  double z;
  double log_h;
  double cdf_ratio;  // Phi / h
  double log_cdf;
  double slope;  // phi / Phi
};
constexpr Reference kReferences[] = {
    {-100000.0,
     -5000000023.9447894634,
     100000.00001999999999,
     -5000000012.4318639983,
     100000.00001},
    {-1000.0,
     -500014.73445209115845,
     1000.001999994000042,
     -500007.82669481218431,
     1000.00099999800001},
    {-38.0,
     -730.19618340211373916,
     38.052522760041328294,
     -726.5572160188201301,
     38.026279466575868988},
    {-20.0,
     -206.91783850942509785,
     20.099262811101281775,
     -203.91715537109726394,
     20.049753068527850542},
    {-10.0,
     -55.553122036122355927,
     10.194383033412553306,
     -53.231285150512470578,
     10.098093233962511963},
    {-5.0001,
     -16.744837348985081756,
     5.3619102405997452535,
     -15.065517049221956743,
     5.1866006975365081535},
    {-5.0,
     -16.744301162660990143,
     5.3618162412880885298,
     -15.064998393988725736,
     5.1865039671258421156},
    {-4.9999,
     -16.74376498573682052,
     5.3617222421599682231,
     -15.064479748428530383,
     5.1864072368234337228},
    {-2.0,
     -4.7687835239171141569,
     2.6794168839555859839,
     -3.7831843336820319488,
     2.3732155328228408673},
    {-1.0,
     -2.4851210257126413368,
     1.9042712333296918229,
     -1.8410216450092635058,
     1.5251352761609812091},
    {0.0,
     -0.91893853320467274178,
     1.2533141373155002512,
     -0.69314718055994530942,
     0.79788456080286535588},
    {1.0,
     0.080026218849306940029,
     0.77663872520173925975,
     -0.17275377902344988953,
     0.28759997093917836123},
    {5.0,
     1.6094379231264313851,
     0.19999994053122004649,
     -2.8665161296376359338e-7,
     1.4867199409049057124e-6},
    {20.0, 2.9957322735539909934, 0.05, -2.7536241186062336951e-89, 5.5209483621597631896e-88},
};

void ExpectRelative(double actual, double expected, double tolerance) {
  EXPECT_NEAR(actual, expected, tolerance * std::abs(expected));
}

class NormalTail : public ::testing::TestWithParam<Reference> {};

TEST_P(NormalTail, LogExpectedImprovementAgreesWithHighPrecision) {
  const Reference& r = GetParam();
  const LogImprovement h = LogExpectedImprovement(r.z);
  // ln h crosses 0 near z = 1; its error is that of h, relative to 1.
  EXPECT_NEAR(h.value, r.log_h, 1e-14 * std::max(1.0, std::abs(r.log_h)));
  ExpectRelative(h.cdf_ratio, r.cdf_ratio, 2e-13);
  // phi / h = (phi / Phi) (Phi / h): the cancellation in 1 - z Phi / h is what it must avoid.
  ExpectRelative(h.density_ratio, r.slope * r.cdf_ratio, 2e-13);
}

TEST_P(NormalTail, LogCdfAgreesWithHighPrecision) {
  const Reference& r = GetParam();
  const LogCdf cdf = LogNormalCdf(r.z);
  ExpectRelative(cdf.value, r.log_cdf, 1e-13);
  ExpectRelative(cdf.slope, r.slope, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Table, NormalTail, ::testing::ValuesIn(kReferences), [](const auto& row) {
  return "Row" + std::to_string(row.index);
});

TEST(NormalTail, StaysFiniteWhereTheDensityUnderflows) {
  const LogImprovement h = LogExpectedImprovement(-1e6);
  EXPECT_TRUE(std::isfinite(h.value));
  ExpectRelative(h.value, -0.5e12 - 0.91893853320467274 - 2.0 * std::log(1e6), 1e-14);
}

TEST(Normal, CdfIsSymmetric) {
  for (const double z : {0.0, 0.3, 1.7, 6.0}) {
    EXPECT_NEAR(NormalCdf(z) + NormalCdf(-z), 1.0, 1e-15);
    EXPECT_EQ(NormalPdf(z), NormalPdf(-z));
  }
}

}  // namespace
}  // namespace vernier::numerics
