// Other names are only collected while a wanted metric is missing (is_searching), so that studies whose metrics are
// found pay little. Maps are bounded because programs print names without end; the first kMostOthers are kept.

#include "src/metrics/sightings.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "src/core/metric_names.h"

namespace vernier::metrics {
namespace {

// Choices, all of them for messages to people: names remembered, sentences on damaged files, candidates per metric, and
// bytes of a quoted line.
constexpr std::size_t kMostOthers = 200;
constexpr std::size_t kMostDamage = 5;
constexpr std::size_t kMostCandidates = 5;
constexpr std::size_t kLongestLine = 160;

// A YAML scalar in single quotes, in which only the quote needs escaping.
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

// The words of a name in alphabetical order.
std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte)) {
      words.back() += absl::ascii_tolower(byte);
    } else {
      words.emplace_back();
    }
  }
  std::ranges::sort(words);
  return words;
}

// Similarity of a name with the metric's name, or with the tag in the metric's entry.
NameLikeness Compare(const WantedMetric& metric, const std::string& name) {
  const NameLikeness likeness = CompareMetricNames(metric.name, name);
  const bool is_tag =
      metric.source.kind == MetricSourceKind::kTfevents && metric.source.text == name;
  if (is_tag) return NameLikeness::kSame;
  const bool has_same_words = WordsOf(metric.name) == WordsOf(name);  // Loss/val, val_loss
  return has_same_words ? std::min(likeness, NameLikeness::kEnd) : likeness;
}

}  // namespace

Sightings::Sightings(std::vector<WantedMetric> wanted, bool shares_folders)
    : wanted_(std::move(wanted)), shares_folders_(shares_folders) {}

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
  Other* const other = FindOrAdd(
      fmt::format("{}:{}", source, name),
      {.source = std::string(source), .name = std::string(name), .key = std::string(key)});
  if (other == nullptr) return;
  ++other->times;
  other->last = value;
}

void Sightings::SawScalar(std::string_view folder,
                          std::string_view prefix,
                          std::string_view tag,
                          double value) {
  Other* const other = FindOrAdd(fmt::format("{}:{}:{}:{}", kTfeventsSource, folder, prefix, tag),
                                 {.source = kTfeventsSource,
                                  .name = std::string(tag),
                                  .folder = std::string(folder),
                                  .prefix = std::string(prefix)});
  if (other == nullptr) return;
  ++other->times;
  other->last = value;
}

Sightings::Other* Sightings::FindOrAdd(const std::string& id, Other other) {
  const auto known = others_.find(id);
  if (known != others_.end()) return &known->second;
  if (others_.size() >= kMostOthers) return nullptr;
  return &others_.emplace(id, std::move(other)).first->second;
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

std::string Sightings::NameOf(const Other& other) const {
  if (other.prefix.empty()) return other.name;
  const auto is_namesake = [&](const auto& entry) {
    return entry.second.source == other.source && entry.second.name == other.name;
  };
  // "run_1/validation/" with the tag "loss" gives "validation/loss", the form that an entry understands.
  if (std::ranges::count_if(others_, is_namesake) == 1) return other.name;
  const std::size_t slash = other.prefix.rfind('/', other.prefix.size() - 2);
  return other.prefix.substr(slash == std::string::npos ? 0 : slash + 1) + other.name;
}

std::string Sightings::What(const Other& other) const {
  const std::string place = other.folder.empty()
                                ? PlaceOf(other.source)
                                : fmt::format("event files below '{}' have the tag", other.folder);
  std::string what =
      fmt::format("{} '{}' {}, last {:g}", place, NameOf(other), Times(other.times), other.last);
  if (other.folder.empty() || !shares_folders_) return what;
  return what +
         "; trials that run at once share that folder, so write below $VERNIER_REPLICA_DIRECTORY "
         "or --job-dir instead, where files are found";
}

std::string Sightings::Entry(const std::string& metric, const Other& other) const {
  const bool is_event = other.source == kTfeventsSource;
  const std::string source =
      fmt::format("{}: {}", KeyOf(other.source), Quoted(is_event ? NameOf(other) : other.key));
  if (other.folder.empty()) return fmt::format("{}: {{{}}}", metric, source);
  // With trials at once, an entry with a shared folder would be refused (CheckFolders in metric_reader.cc).
  return shares_folders_ ? "" : fmt::format("{}: {{{}, folder: {}}}", metric, source, other.folder);
}

std::string Sightings::OtherNames() const {
  constexpr std::size_t kListed = 8;
  std::string names;
  std::size_t listed = 0;
  const std::string& folder = others_.begin()->second.folder;
  bool is_of_folder = !folder.empty();
  for (const auto& [id, other] : others_) {
    is_of_folder = is_of_folder && other.folder == folder;
    if (listed++ < kListed)
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", NameOf(other));
  }
  return fmt::format("{}: {}{}",
                     is_of_folder ? fmt::format("event files below '{}' have other tags", folder)
                                  : "it reported other names",
                     names,
                     others_.size() > kListed ? ", …" : "");
}

std::vector<MetricSighting::Candidate> Sightings::Candidates(const WantedMetric& metric) const {
  std::vector<MetricSighting::Candidate> candidates;
  if (const auto line = unparsed_.find(metric.name); line != unparsed_.end()) {
    candidates.push_back(
        {.what = fmt::format("no number follows it in the line '{}'", line->second), .entry = ""});
  }
  // Most similar first, then most frequent: a metric is printed at every step.
  std::vector<std::tuple<NameLikeness, std::int64_t, const Other*>> likely;
  for (const auto& [id, other] : others_) {
    const NameLikeness likeness = Compare(metric, NameOf(other));
    if (likeness != NameLikeness::kNone) likely.emplace_back(likeness, -other.times, &other);
  }
  std::ranges::sort(likely);
  for (const auto& [likeness, times, other] : likely) {
    if (candidates.size() >= kMostCandidates) break;
    candidates.push_back({.what = What(*other), .entry = Entry(metric.name, *other)});
  }
  if (likely.empty() && !others_.empty()) {
    candidates.push_back({.what = OtherNames(), .entry = ""});
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
