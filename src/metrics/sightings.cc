#include "src/metrics/sightings.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "src/core/metric_names.h"

namespace vernier::metrics {
namespace {

constexpr std::size_t kMostOthers = 200;
constexpr std::size_t kMostDamage = 5;
constexpr std::size_t kMostCandidates = 5;
constexpr std::size_t kLongestLine = 160;

// A YAML scalar that stands for any text.
std::string Quoted(std::string_view text) {
  return "'" + absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{"'", "''"}}) +
         "'";
}

const char* KeyOf(std::string_view source) {
  if (source == kLogSource) return "after";
  if (source == kJsonSource) return "json";
  return source == kTfeventsSource ? "tfevents" : "hypertune";
}

const char* PlaceOf(std::string_view source) {
  if (source == kLogSource) return "the output has";
  if (source == kJsonSource) return "JSON lines of the output have";
  return source == kTfeventsSource ? "event files have the tag" : "the hypertune file has the tag";
}

std::string Times(std::int64_t times) {
  return times == 1 ? "once" : fmt::format("{} times", times);
}

}  // namespace

Sightings::Sightings(std::vector<WantedMetric> wanted) : wanted_(std::move(wanted)) {}

void Sightings::Found(const std::string& metric, std::string_view source) {
  const auto found = found_.find(metric);
  if (found != found_.end()) {
    ++found->second.values;
    return;
  }
  const bool is_wanted = std::ranges::count(wanted_, metric, &WantedMetric::name) > 0;
  if (is_wanted) found_[metric] = {.values = 1, .source = std::string(source)};
}

void Sightings::SawOther(std::string_view source,
                         std::string_view name,
                         std::string_view key,
                         double value) {
  const std::string id = fmt::format("{}:{}", source, name);
  auto other = others_.find(id);
  if (other == others_.end()) {
    if (others_.size() >= kMostOthers) return;
    other = others_
                .emplace(id,
                         Other{.source = std::string(source),
                               .name = std::string(name),
                               .key = std::string(key)})
                .first;
  }
  ++other->second.times;
  other->second.last = value;
}

void Sightings::PassedOver(const std::string& metric,
                           std::string_view name,
                           std::string_view key,
                           double value) {
  std::map<std::string, Other>& others = passed_over_[metric];
  if (others.size() >= kMostCandidates && !others.contains(std::string(name))) return;
  Other& other =
      others
          .try_emplace(
              std::string(name),
              Other{.source = kLogSource, .name = std::string(name), .key = std::string(key)})
          .first->second;
  ++other.times;
  other.last = value;
}

void Sightings::SawUnparsed(const std::string& metric, std::string_view line) {
  if (!found_.contains(metric)) unparsed_[metric] = std::string(line.substr(0, kLongestLine));
}

void Sightings::SawDamage(std::string sentence) {
  if (damage_.size() < kMostDamage && std::ranges::count(damage_, sentence) == 0) {
    damage_.push_back(std::move(sentence));
  }
}

std::vector<MetricSighting::Candidate> Sightings::Candidates(const WantedMetric& metric) const {
  std::vector<MetricSighting::Candidate> candidates;
  if (const auto line = unparsed_.find(metric.name); line != unparsed_.end()) {
    candidates.push_back(
        {.what = fmt::format("no number follows it in the line '{}'", line->second), .entry = ""});
  }
  std::vector<std::tuple<NameLikeness, std::int64_t, const Other*>> likely;
  for (const auto& [id, other] : others_) {
    const NameLikeness likeness = CompareMetricNames(metric.name, other.name);
    if (likeness != NameLikeness::kNone) likely.emplace_back(likeness, -other.times, &other);
  }
  std::ranges::sort(likely);
  for (const auto& [likeness, times, other] : likely) {
    if (candidates.size() >= kMostCandidates) break;
    candidates.push_back(
        {.what = fmt::format("{} '{}' {}, last {:g}",
                             PlaceOf(other->source),
                             other->name,
                             Times(other->times),
                             other->last),
         .entry =
             fmt::format("{}: {{{}: {}}}", metric.name, KeyOf(other->source), Quoted(other->key))});
  }
  if (likely.empty() && !others_.empty()) {
    std::string names;
    std::size_t listed = 0;
    constexpr std::size_t kListed = 8;
    for (const auto& [id, other] : others_) {
      if (listed++ == kListed) break;
      names += (names.empty() ? "'" : ", '") + other.name + "'";
    }
    candidates.push_back(
        {.what = fmt::format(
             "it reported other names: {}{}", names, others_.size() > kListed ? ", …" : ""),
         .entry = ""});
  }
  for (const std::string& sentence : damage_) candidates.push_back({.what = sentence, .entry = ""});
  return candidates;
}

std::vector<MetricSighting::Candidate> Sightings::OthersThan(const std::string& metric) const {
  std::vector<MetricSighting::Candidate> candidates;
  const auto others = passed_over_.find(metric);
  if (others == passed_over_.end()) return candidates;
  for (const auto& [name, other] : others->second) {
    candidates.push_back(
        {.what = fmt::format(
             "the output also has '{}' {}, last {:g}", name, Times(other.times), other.last),
         .entry = fmt::format("{}: {{after: {}}}", metric, Quoted(other.key))});
  }
  return candidates;
}

std::vector<MetricSighting> Sightings::Describe() const {
  std::vector<MetricSighting> sightings;
  for (const WantedMetric& metric : wanted_) {
    MetricSighting sighting{.metric = metric.name};
    if (const auto found = found_.find(metric.name); found != found_.end()) {
      sighting.values = found->second.values;
      sighting.source = found->second.source;
      sighting.candidates = OthersThan(metric.name);
    } else {
      sighting.candidates = Candidates(metric);
    }
    sightings.push_back(std::move(sighting));
  }
  return sightings;
}

}  // namespace vernier::metrics
