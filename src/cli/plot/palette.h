#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// The colours of figures. Okabe and Ito's for kinds of things, which people with any colour vision tell apart, and a ramp
// of even lightness for amounts.
namespace vernier::plot {

enum class Ink : std::uint8_t {
  kText,
  kMuted,  // Text of less weight; things that do not count.
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

// Of the ramp: as many steps as people can tell apart.
inline constexpr int kRampSteps = 16;
int RampStep(double level);

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};
// "#0072b2".
std::string Hex(Rgb color);

// On light paper and on a dark screen. REQUIRES: not kRamp.
Rgb ColorOf(Ink ink, bool dark);
// A step of the ramp, 0 to kRampSteps - 1. The best stands out most: dark on paper, bright on a dark screen.
Rgb RampColor(int step, bool dark);
// The CSS class of a paint: "v-blue", "v-r7".
std::string ClassOf(const Paint& paint);
std::string_view NameOf(Ink ink);
// The nearest of a terminal's 256 colours.
int TerminalColor(const Paint& paint);

}  // namespace vernier::plot
