// The ramp is computed in OKLab, so that equal steps of a value look like equal steps of colour, as in viridis; its
// ends are dark violet and bright yellow. Category colours are from Okabe and Ito (2008), lightened for dark
// backgrounds.

#include "src/cli/plot/palette.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace vernier::plot {
namespace {

// A colour in OKLab (Ottosson, 2020), in which equal distances look equal.
struct Lab {
  double lightness;
  double a;
  double b;
};

// Linear light to sRGB (IEC 61966-2-1).
double ToByte(double linear) {
  const double clamped = std::clamp(linear, 0.0, 1.0);
  const double gamma =
      clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
  return std::round(255 * gamma);
}

// Ottosson's published matrices, from OKLab to linear sRGB.
Rgb ToRgb(const Lab& lab) {
  const double l = std::pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  const auto byte = [](double linear) { return static_cast<std::uint8_t>(ToByte(linear)); };
  return {.red = byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          .green = byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          .blue = byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

// The ramp from dark (0) to bright (1): lightness rises evenly, the hue turns from violet through teal to yellow.
Rgb RampAt(double share) {
  constexpr double kPi = 3.14159265358979323846;
  const double lightness = 0.30 + 0.60 * share;
  const double hue = (305 - 200 * share) * kPi / 180;
  const double chroma = 0.125 + 0.045 * share - 0.09 * share * (1 - share);
  return ToRgb({lightness, chroma * std::cos(hue), chroma * std::sin(hue)});
}

constexpr Rgb RgbOf(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16U),
          static_cast<std::uint8_t>((hex >> 8U) & 0xFFU),
          static_cast<std::uint8_t>(hex & 0xFFU)};
}

}  // namespace

int RampStep(double level) {
  if (!(level > 0)) return 0;
  return std::min(kRampSteps - 1, static_cast<int>(level * kRampSteps));
}

std::string Hex(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

Rgb ColorOf(Ink ink, bool dark) {
  switch (ink) {
    case Ink::kText:
      return RgbOf(dark ? 0xE8E8E8 : 0x222222);
    case Ink::kMuted:
      return RgbOf(dark ? 0x9AA0A6 : 0x6B6B6B);
    case Ink::kFaint:
      return RgbOf(dark ? 0x33383E : 0xE4E4E4);
    case Ink::kBlue:
      return RgbOf(dark ? 0x4BA3DC : 0x0072B2);
    case Ink::kSky:
      return RgbOf(dark ? 0x7CC8F2 : 0x56B4E9);
    case Ink::kGreen:
      return RgbOf(dark ? 0x2DC59A : 0x009E73);
    case Ink::kOrange:
      return RgbOf(dark ? 0xF0B030 : 0xE69F00);
    case Ink::kRed:
      return RgbOf(dark ? 0xF27B3A : 0xD55E00);
    case Ink::kPurple:
      return RgbOf(dark ? 0xDD94BC : 0xCC79A7);
    case Ink::kRamp:
      break;
  }
  return RampColor(0, dark);
}

Rgb RampColor(int step, bool dark) {
  const double share = static_cast<double>(std::clamp(step, 0, kRampSteps - 1)) / (kRampSteps - 1);
  return RampAt(dark ? share : 1 - share);
}

std::string_view NameOf(Ink ink) {
  switch (ink) {
    case Ink::kText:
      return "text";
    case Ink::kMuted:
      return "muted";
    case Ink::kFaint:
      return "faint";
    case Ink::kBlue:
      return "blue";
    case Ink::kSky:
      return "sky";
    case Ink::kGreen:
      return "green";
    case Ink::kOrange:
      return "orange";
    case Ink::kRed:
      return "red";
    case Ink::kPurple:
      return "purple";
    case Ink::kRamp:
      break;
  }
  return "ramp";
}

std::string ClassOf(const Paint& paint) {
  if (paint.ink == Ink::kRamp) return fmt::format("v-r{}", RampStep(paint.level));
  return fmt::format("v-{}", NameOf(paint.ink));
}

int TerminalColor(const Paint& paint) {
  // Terminals are taken for dark; the colours are readable on light ones as well.
  const Rgb color = paint.ink == Ink::kRamp ? RampColor(RampStep(paint.level), /*dark=*/true)
                                            : ColorOf(paint.ink, /*dark=*/true);
  // The cube of 6 x 6 x 6 colours begins at 16; its steps are 0, 95, 135, 175, 215, 255.
  const auto side = [](std::uint8_t byte) {
    return byte < 48 ? 0 : byte < 115 ? 1 : (byte - 35) / 40;
  };
  return 16 + 36 * side(color.red) + 6 * side(color.green) + side(color.blue);
}

}  // namespace vernier::plot
