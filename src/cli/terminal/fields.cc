// The column starts at 12, so that short answers of different commands look alike, and grows with longer names, such as
// those of metrics.

#include "src/cli/terminal/fields.h"

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

constexpr int kFieldGap = 2;
constexpr int kLeastColumn = 12;
// A longer name shifts only its own value.
constexpr int kMostColumn = 34;

}  // namespace

void Fields::Add(std::string_view name, std::string_view value) {
  lines_.emplace_back(Printable(name), fmt::format("{}", fmt::join(PrintableLines(value), "\n")));
}

std::string Fields::Text() const {
  int column = kLeastColumn;
  for (const auto& [name, value] : lines_) {
    const int width = DisplayWidth(name);
    if (width >= column && width + kFieldGap <= kMostColumn) column = width + kFieldGap;
  }
  std::string text;
  for (const auto& [name, value] : lines_) {
    const int width = DisplayWidth(name) < column ? column : DisplayWidth(name) + kFieldGap;
    text += PadRight(name, width) + value + "\n";
  }
  return text;
}

}  // namespace vernier::cli
