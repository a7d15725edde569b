#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// Colours of figures: for categories those of Okabe and Ito, which can be told apart with any colour vision; for
// amounts a ramp of evenly increasing lightness.
namespace vernier::plot {

enum class Ink : std::uint8_t {
  kText,
  kMuted,  // Secondary text, and trials that do not count.
  kFaint,  // Rules and grids.
  kBlue,
  kSky,
  kGreen,
  kOrange,
  kRed,
  kPurple,
  kRamp,  // By Paint::level.
};
inline constexpr std::array<Ink, 9> kPlainInks = {Ink::kText,
                                                  Ink::kMuted,
                                                  Ink::kFaint,
                                                  Ink::kBlue,
                                                  Ink::kSky,
                                                  Ink::kGreen,
                                                  Ink::kOrange,
                                                  Ink::kRed,
                                                  Ink::kPurple};

struct Paint {
  Ink ink = Ink::kText;
  double level = 0;  // With kRamp: 0 is the worst, 1 the best.
};

// Steps of the ramp. A choice: about as many as can be told apart.
inline constexpr int kRampSteps = 16;
int RampStep(double level);

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};
// "#0072b2".
std::string Hex(Rgb color);

// The colour on a light or dark background. REQUIRES: not kRamp.
Rgb ColorOf(Ink ink, bool dark);
// A step of the ramp, 0 to kRampSteps - 1. The best has the strongest contrast: dark on light paper, bright on a dark
// screen.
Rgb RampColor(int step, bool dark);
// The CSS class of a paint: "v-blue", "v-r7".
std::string ClassOf(const Paint& paint);
std::string_view NameOf(Ink ink);
// The nearest of a terminal's 256 colours.
int TerminalColor(const Paint& paint);

}  // namespace vernier::plot
