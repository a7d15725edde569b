#include "src/study/curve_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/core/check.h"

namespace vernier::study {
namespace {

// Appends the positions of the lowest and the highest value in [begin, end), in the order of positions.
void AppendExtremes(std::span<const double> values,
                    std::size_t begin,
                    std::size_t end,
                    std::vector<std::size_t>& chosen) {
  std::size_t low = begin;
  std::size_t high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    // The first number replaces a NaN that the part may begin with.
    if (std::isnan(values[low]) || values[i] < values[low]) low = i;
    if (std::isnan(values[high]) || values[i] > values[high]) high = i;
  }
  chosen.push_back(std::min(low, high));
  if (low != high) chosen.push_back(std::max(low, high));
}

}  // namespace

std::vector<std::size_t> ChooseExtremes(std::span<const double> values, std::size_t most) {
  VERNIER_CHECK(most >= 4, "a curve takes four points");
  std::vector<std::size_t> chosen;
  if (values.size() <= most) {
    chosen.resize(values.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  const std::size_t inner = values.size() - 2;
  // First and last value are always shown; each part in between gives at most two.
  const std::size_t parts = (most - 2) / 2;
  chosen.reserve(most);
  chosen.push_back(0);
  for (std::size_t part = 0; part < parts; ++part) {
    AppendExtremes(values, 1 + inner * part / parts, 1 + inner * (part + 1) / parts, chosen);
  }
  chosen.push_back(values.size() - 1);
  return chosen;
}

void CurveIndex::Add(EventSeq event, const std::map<std::string, double>& metrics) {
  const auto at = static_cast<std::uint32_t>(events_.size());
  events_.push_back(event);
  for (const auto& [name, value] : metrics) {
    Column& column = columns_[name];
    column.at.push_back(at);
    column.values.push_back(value);
  }
}

const CurveIndex::Column& CurveIndex::Get(std::string_view metric) const {
  // Never destroyed, so that calls at exit are safe.
  static const Column* const none = new Column();
  const auto at = columns_.find(metric);
  return at == columns_.end() ? *none : at->second;
}

std::vector<double> CurveIndex::Spread(const Column& column) const {
  std::vector<double> values(events_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < column.at.size(); ++i) values[column.at[i]] = column.values[i];
  return values;
}

std::vector<EventSeq> CurveIndex::Choose(std::string_view metric,
                                         std::string_view objective,
                                         std::size_t most) const {
  std::vector<EventSeq> chosen;
  if (metric.empty()) {
    // Without a metric, all measurements count, and the objective's values decide which of them to
    // show.
    if (most == 0 || events_.size() <= most) return events_;
    for (const std::size_t i : ChooseExtremes(Spread(Get(objective)), most)) {
      chosen.push_back(events_[i]);
    }
    return chosen;
  }
  const Column& column = Get(metric);
  const std::size_t room = most == 0 ? std::max<std::size_t>(4, column.values.size()) : most;
  for (const std::size_t i : ChooseExtremes(column.values, room)) {
    chosen.push_back(events_[column.at[i]]);
  }
  return chosen;
}

std::size_t CurveIndex::Count(std::string_view metric) const {
  return metric.empty() ? events_.size() : Get(metric).at.size();
}

}  // namespace vernier::study
