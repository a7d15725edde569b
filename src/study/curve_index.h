#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/core/ids.h"

namespace vernier::study {

// Positions that show the course of `values` in `most` points or fewer, ascending: the first, the last, and of each of equal
// parts between them the lowest and the highest value. A part without a number is shown by its first value. All positions
// if there are no more than `most`.
// REQUIRES: most >= 4.
std::vector<std::size_t> ChooseExtremes(std::span<const double> values, std::size_t most);

// Which events carry the measurements of one trial, and the value of each metric in them: enough to choose points of a curve
// without reading it. Takes 8 bytes for a measurement and 12 for each metric in it. Not thread-safe.
class CurveIndex {
 public:
  void Add(EventSeq event, const std::map<std::string, double>& metrics);

  std::size_t size() const { return events_.size(); }
  // Events of the measurements that have `metric`; of all of them if it is empty. With `most`, only those that
  // ChooseExtremes names: extremes of `metric`, else of `objective`.
  std::vector<EventSeq> Choose(std::string_view metric,
                               std::string_view objective,
                               std::size_t most) const;
  // Number of measurements that have `metric`; of all of them if it is empty.
  std::size_t Count(std::string_view metric) const;

 private:
  struct Column {
    std::vector<std::uint32_t> at;  // Positions in events_.
    std::vector<double> values;
  };
  const Column& Get(std::string_view metric) const;
  // The values of a metric at all positions; NaN where a measurement does not have it.
  std::vector<double> Spread(const Column& column) const;

  std::vector<EventSeq> events_;
  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace vernier::study
