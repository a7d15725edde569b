#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

// Parses numbers as programs print them.
namespace vernier::metrics {

struct FoundNumber {
  double value = 0;
  std::size_t length = 0;  // Length of its text, from the start of the search.
};

// Finds a number at the start of the text: "9.5e-05", "-0.25", ".5", "nan", "-inf", "Infinity". A percent sign or a
// short unit may follow ("93.1%" is 93.1, "20ms" is 20). Nothing if the number is part of something else: "0,93" and
// "1.2.3" (no number at all), "45/50", "12:30", "2026-11-23", "0x1f", "info".
std::optional<FoundNumber> FindNumber(std::string_view text);

// Finds a fraction of two whole numbers, such as "9834/10000", and returns its ratio. Nothing for dates, paths, and
// positions of progress bars ("12/30 [00:01<00:02]").
std::optional<FoundNumber> FindFraction(std::string_view text);

// Finds a number or a fraction after a name: skips blanks, quotes, and the constructor of an array type, as in
// "tensor(0.5, device='cuda:0')" or "np.float64(0.5)". The length counts from the start of the text.
std::optional<FoundNumber> FindValue(std::string_view text);

// Parses a text that is a number as a whole.
std::optional<double> ParseNumber(std::string_view text);

}  // namespace vernier::metrics
