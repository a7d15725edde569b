#pragma once

#include <string>
#include <string_view>
#include <vector>

// What the pictures that stand alone have in common: their size, their style, their axes.
namespace vernier::cli {

// The picture lies within these margins of its 800 x 420 canvas.
struct SvgFrame {
  static constexpr double kWidth = 800;
  static constexpr double kHeight = 420;
  static constexpr double kLeft = 72;
  static constexpr double kRight = 24;
  static constexpr double kTop = 48;
  static constexpr double kBottom = 72;
};

// Text between tags or in an attribute.
std::string Escape(std::string_view text);

// Where values lie: the first and the last tick bound the picture.
struct SvgScales {
  std::vector<double> across;
  std::vector<double> up;
  double X(double value) const;
  double Y(double value) const;
};

// The beginning of a picture up to its title; </svg> ends it.
std::string SvgBegin(std::string_view title);
// Both axes with their figures, and what stands along them. `label_up` may be empty.
std::string SvgAxes(const SvgScales& scales,
                    std::string_view label_across,
                    std::string_view label_up);

// A filled or hollow dot with the text that shows when it is pointed at; none if empty.
struct SvgDot {
  double x = 0;
  double y = 0;
  double radius = 4;
  std::string_view color;
  bool hollow = false;
};
std::string SvgCircle(const SvgDot& dot, std::string_view text);

// The entries under a picture, from left to right.
class SvgLegend {
 public:
  void AddDot(std::string_view color, bool hollow, std::string_view name);
  void AddLine(std::string_view name);
  const std::string& text() const { return text_; }

 private:
  void AddName(double from, std::string_view name);
  std::string text_;
  double x_ = SvgFrame::kLeft;
};

}  // namespace vernier::cli
