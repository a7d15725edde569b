// One reader for an attempt: GangReader merges a ReplicaReader for each replica that has wanted metrics, and that
// merges the hypertune file, event files and output of one replica. All sources are read from their beginning by each
// new reader, so that a restarted server misses nothing; the study skips measurements that it has.
//
// A metric that is only named may appear in several sources. The first source in which it is found wins, in the order
// of ReplicaReader::Read, and is the only one from then on (KeepToSources): two sources often differ in steps or
// smoothing.

#include "vernier/metric_reader.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/jobs/placeholders.h"
#include "src/metrics/event_folder.h"
#include "src/metrics/hypertune_file.h"
#include "src/metrics/line_matcher.h"
#include "src/metrics/output_reader.h"
#include "src/metrics/sightings.h"
#include "src/metrics/wanted_metric.h"
#include "vernier/core/error.h"

namespace vernier {
namespace metrics {
namespace {

bool IsReadFromEvents(const WantedMetric& metric) {
  return metric.source.kind == MetricSourceKind::kName ||
         metric.source.kind == MetricSourceKind::kTfevents;
}

std::string Below(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

// The job's directory, if it is on this host; else empty.
std::string LocalJobDirectory(const StudySpec& spec,
                              const Trial& trial,
                              const ReplicaProgram& replica) {
  if (!spec.job.has_value()) return "";
  std::string directory = jobs::JobDirectory(spec, trial.number);
  constexpr std::string_view kFile = "file://";
  if (directory.starts_with(kFile)) directory = directory.substr(kFile.size());
  if (directory.empty() || directory.find("://") != std::string::npos) return "";
  return Below(replica.directory, directory);
}

// The folder with its placeholders substituted.
std::string OwnFolder(const std::string& folder, const StudySpec& spec, const Trial& trial) {
  if (!spec.job.has_value() || !jobs::HasPlaceholders(spec)) return folder;
  jobs::PlaceholderValues values{
      .spec = spec,
      .point = trial.point,
      .others = {{jobs::kTrialNumber, std::to_string(trial.number.value())}}};
  if (!spec.job->job_directory.empty()) {
    values.others[jobs::kJobDirectory] = jobs::JobDirectory(spec, trial.number);
  }
  return jobs::Substitute(folder, values).value_or(folder);
}

// Whether each trial has a folder of its own.
bool IsOwnFolder(const std::string& folder, const StudySpec& spec) {
  if (!jobs::HasPlaceholders(spec)) return false;
  const std::set<std::string> names = jobs::PlaceholderNames(folder);
  return names.contains(jobs::kTrialNumber) ||
         (names.contains(jobs::kJobDirectory) && !spec.job->job_directory.empty());
}

// The folders that may hold the metric's event files.
std::vector<std::string> EventFolders(const StudySpec& spec,
                                      const Trial& trial,
                                      const ReplicaProgram& replica,
                                      const WantedMetric& metric) {
  if (!metric.source.folder.empty()) {
    return {Below(replica.directory, OwnFolder(metric.source.folder, spec, trial))};
  }
  std::vector<std::string> folders;
  if (auto job = LocalJobDirectory(spec, trial, replica); !job.empty()) folders.push_back(job);
  folders.push_back(std::filesystem::path(replica.log_file).parent_path().string());
  return folders;
}

// The time in which event files of the trial's last attempt were begun. From its placement, which precedes its programs
// and is the same for a later reader. Without it, files of earlier runs, trials or studies in the same folder would
// count.
TimeSpan SpanOf(const Trial& trial) {
  if (trial.attempts.empty()) return {};
  const Attempt& attempt = trial.attempts.back();
  return {.from = attempt.placed, .until = attempt.ended.value_or(absl::InfiniteFuture())};
}

// Reads the reports of one replica.
class ReplicaReader {
 public:
  // `is_primary`: also takes metrics from the hypertune file that are not wanted.
  static absl::StatusOr<std::unique_ptr<ReplicaReader>> Create(
      const StudySpec& spec,
      const Trial& trial,
      const ReplicaProgram& replica,
      const std::vector<WantedMetric>& wanted,
      bool is_primary,
      Sightings& sightings) {
    VERNIER_ASSIGN_OR_RETURN(LineMatcher matcher, LineMatcher::Create(wanted));
    // One EventFolder for each folder: two readers of the same files would read them twice.
    std::map<std::string, std::vector<WantedMetric>> by_folder;
    for (const WantedMetric& metric : wanted) {
      if (!IsReadFromEvents(metric)) continue;
      for (const std::string& folder : EventFolders(spec, trial, replica, metric)) {
        by_folder[folder].push_back(metric);
      }
    }
    std::unique_ptr<ReplicaReader> reader(new ReplicaReader(
        replica, std::move(matcher), FirstObjective(spec).metric, trial.last, sightings));
    reader->wanted_ = wanted;
    reader->directory_ = replica.directory;
    reader->takes_any_tag_ = is_primary;
    for (auto& [folder, metrics] : by_folder) {
      reader->events_.push_back(std::make_unique<EventFolder>(
          folder, std::move(metrics), sightings, EventFolder::Options{.begun = SpanOf(trial)}));
      reader->folders_.insert(folder);
    }
    return reader;
  }

  // The order decides which source a metric is taken from: explicit reports, then event files, then printed text.
  absl::StatusOr<std::vector<Measurement>> Read() {
    std::vector<Measurement> found;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Measurement> reports, reports_.Read());
    for (const Measurement& report : reports) TakeReport(report, found);
    for (const std::string& sentence : reports_.ignored()) sightings_.SawDamage(sentence);
    for (const auto& folder : events_) {
      VERNIER_ASSIGN_OR_RETURN(std::vector<Measurement> scalars, folder->Read());
      std::ranges::move(scalars, std::back_inserter(found));
    }
    VERNIER_ASSIGN_OR_RETURN(std::vector<Measurement> printed, output_.Read());
    std::ranges::move(printed, std::back_inserter(found));
    return found;
  }

  // Looks for event files where programs write them by default (SummaryWriter's "runs", Lightning's "lightning_logs"
  // and so on), only to advise the user. The limits are choices: the search runs once, at the end of an attempt without
  // its metric.
  void SearchUsualFolders(const TimeSpan& begun) {
    if (!directory_.starts_with('/')) return;
    for (const char* const name : {"runs", "logs", "lightning_logs", "tb_logs", "tensorboard"}) {
      const std::string path = Below(directory_, name);
      if (folders_.contains(path)) continue;
      EventFolder folder(path,
                         {},
                         sightings_,
                         {.begun = begun,
                          .skew = absl::Seconds(2),
                          .most_files = 20,
                          .most_folders = 1000,
                          .most_bytes = std::int64_t{1} << 20,
                          .folder = name});
      folder.Read().IgnoreError();  // No advice, then.
    }
  }

  std::vector<std::string> UnmatchedLines() const { return output_.UnmatchedLines(); }

 private:
  ReplicaReader(const ReplicaProgram& replica,
                LineMatcher matcher,
                const std::string& objective,
                const std::optional<Measurement>& known,
                Sightings& sightings)
      : sightings_(sightings),
        reports_(replica.metric_file, objective),
        output_(replica.log_file, std::move(matcher), known, sightings) {}

  // Renames the tags of the report to the metrics that they are read for.
  void TakeReport(const Measurement& report, std::vector<Measurement>& found) {
    Measurement named = report;
    named.metrics.clear();
    for (const auto& [tag, value] : report.metrics) {
      bool is_known = false;
      bool is_taken = false;
      for (const WantedMetric& metric : wanted_) {
        is_known = is_known || metric.name == tag;
        const bool is_meant =
            metric.source.kind == MetricSourceKind::kName
                ? metric.name == tag
                : metric.source.kind == MetricSourceKind::kHypertune && metric.source.text == tag;
        if (is_meant) named.metrics[metric.name] = value;
        is_taken = is_taken || is_meant;
      }
      if (is_taken) continue;
      sightings_.SawOther(kHypertuneSource, tag, tag, value);
      if (!is_known && takes_any_tag_) named.metrics[tag] = value;
    }
    if (!named.metrics.empty()) found.push_back(std::move(named));
  }

  Sightings& sightings_;
  std::vector<WantedMetric> wanted_;
  std::string directory_;
  std::set<std::string> folders_;  // Folders of event files that are read.
  bool takes_any_tag_ = false;
  HypertuneReader reports_;
  std::vector<std::unique_ptr<EventFolder>> events_;
  OutputReader output_;
};

// Merges the reports of the replicas of a gang.
class GangReader final : public MetricReader {
 public:
  // `begun`: when event files of the attempt were begun; unset: there is no attempt, and no search for advice.
  GangReader(const std::vector<WantedMetric>& wanted,
             bool shares_folders,
             std::optional<TimeSpan> begun)
      : sightings_(wanted, shares_folders), to_search_(begun) {
    for (const WantedMetric& metric : wanted) {
      if (metric.source.kind == MetricSourceKind::kName) by_name_.insert(metric.name);
    }
  }

  absl::StatusOr<std::vector<Measurement>> Read() override {
    std::vector<Measurement> found;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<Measurement> read, replicas_[i]->Read());
      for (const Measurement& measurement : read) KeepToSources(i, measurement, found);
    }
    // Stable, so that measurements of one source keep their order within a moment.
    std::ranges::stable_sort(found, {}, &Measurement::time);
    return found;
  }

  // Files are read in pieces, and held measurements come when a read finds nothing else: two empty reads mean the end.
  absl::StatusOr<std::vector<Measurement>> Finish() override {
    std::vector<Measurement> all;
    for (int times_empty = 0; times_empty < 2;) {
      VERNIER_ASSIGN_OR_RETURN(std::vector<Measurement> found, Read());
      times_empty = found.empty() ? times_empty + 1 : 0;
      std::ranges::move(found, std::back_inserter(all));
    }
    if (const auto begun = std::exchange(to_search_, std::nullopt); begun.has_value()) {
      // Only at the end: usual folders may hold files of other programs, and the search costs time.
      if (sightings_.is_searching()) replicas_.front()->SearchUsualFolders(*begun);
    }
    return all;
  }

  std::vector<MetricSighting> Sightings() const override { return sightings_.Describe(); }

  std::vector<std::string> UnmatchedLines() const override {
    return replicas_.front()->UnmatchedLines();
  }

  void Add(std::unique_ptr<ReplicaReader> replica) { replicas_.push_back(std::move(replica)); }
  metrics::Sightings& sightings() { return sightings_; }

 private:
  // Keeps to one source of one replica for each metric that is found by name: it may be printed, reported and written
  // to files, and by two replicas.
  void KeepToSources(std::size_t replica,
                     Measurement measurement,
                     std::vector<Measurement>& found) {
    const std::pair source(replica, measurement.source);
    std::erase_if(measurement.metrics, [&](const auto& entry) {
      if (!by_name_.contains(entry.first)) return false;
      return chosen_.try_emplace(entry.first, source).first->second != source;
    });
    if (measurement.metrics.empty()) return;
    if (measurement.source != kLogSource && measurement.source != kJsonSource) {
      for (const auto& [metric, value] : measurement.metrics) {
        sightings_.Found(metric, measurement.source);
      }
    }
    found.push_back(std::move(measurement));
  }

  metrics::Sightings sightings_;
  std::optional<TimeSpan> to_search_;  // Until Finish.
  std::set<std::string> by_name_;
  // Index of the replica, source.
  std::map<std::string, std::pair<std::size_t, std::string>> chosen_;
  std::vector<std::unique_ptr<ReplicaReader>> replicas_;
};

// The first replica of the role; null: there is none.
const ReplicaProgram* FindReplica(const GangProgram& gang,
                                  const std::optional<Role>& role,
                                  const StudySpec& spec) {
  if (!role.has_value() || !spec.job.has_value()) return &gang.replicas.front();
  const std::string name = RoleName(*role, *spec.job);
  const auto replica = std::ranges::find(gang.replicas, name, &ReplicaProgram::role);
  return replica == gang.replicas.end() ? nullptr : &*replica;
}

const ReplicaProgram* FindEvaluator(const GangProgram& gang, const StudySpec& spec) {
  return spec.job.has_value() ? FindReplica(gang, Role::kEvaluator, spec) : nullptr;
}

// Checks each entry by itself.
absl::Status CheckEntries(const StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(LineMatcher::Create(WantedMetrics(spec)).status());
  for (const auto& [name, source] : spec.metrics) {
    if (!source.from.has_value() || !spec.job.has_value()) continue;
    const auto replica = spec.job->replicas.find(*source.from);
    if (replica != spec.job->replicas.end() && replica->second.count > 0) continue;
    return FieldError(
        fmt::format("metrics.{}.from", name),
        fmt::format("the job has no replica '{}'", RoleName(*source.from, *spec.job)));
  }
  return absl::OkStatus();
}

// Checks that placeholders are known, and that trials that run at once have separate folders.
absl::Status CheckFolders(const StudySpec& spec) {
  if (!spec.job.has_value()) return absl::OkStatus();
  for (const auto& [name, source] : spec.metrics) {
    for (const std::string& placeholder : jobs::PlaceholderNames(source.folder)) {
      if (jobs::IsPlaceholder(placeholder, spec) && placeholder != jobs::kParametersFile) continue;
      return FieldError(fmt::format("metrics.{}.folder", name),
                        placeholder == jobs::kJobDirectory
                            ? std::string("'{job_dir}' needs `dir` in the job")
                            : fmt::format("'{{{}}}' stands for nothing; {{trial}}, {{job_dir}} and "
                                          "parameters do",
                                          placeholder));
    }
    if (spec.parallel <= 1 || source.folder.empty() || IsOwnFolder(source.folder, spec)) continue;
    return FieldError(
        fmt::format("metrics.{}.folder", name),
        fmt::format("trials that run at once share '{0}' and their event files cannot be told "
                    "apart: write parallel: 1, or a folder for each trial, '{0}/{{trial}}'",
                    source.folder));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace metrics

absl::StatusOr<std::unique_ptr<MetricReader>> NewMetricReader(const StudySpec& spec,
                                                              const Trial& trial,
                                                              const GangProgram& gang) {
  VERNIER_CHECK(!gang.replicas.empty(), "a gang of a valid study");
  VERNIER_RETURN_IF_ERROR(metrics::CheckEntries(spec));
  const std::vector<metrics::WantedMetric> wanted = metrics::WantedMetrics(spec);
  const ReplicaProgram* const primary = &gang.replicas.front();
  std::map<const ReplicaProgram*, std::vector<metrics::WantedMetric>> by_replica;
  by_replica[primary];  // Always read, for advice and unmatched lines.
  for (const metrics::WantedMetric& metric : wanted) {
    if (const auto* const replica = metrics::FindReplica(gang, metric.source.from, spec)) {
      by_replica[replica].push_back(metric);
    }
    // Without an explicit replica, the metric may also come from the evaluator.
    const bool is_anybodys =
        metric.source.kind == MetricSourceKind::kName && !metric.source.from.has_value();
    const auto* const evaluator = metrics::FindEvaluator(gang, spec);
    if (is_anybodys && evaluator != nullptr) by_replica[evaluator].push_back(metric);
  }
  std::optional<metrics::TimeSpan> begun;
  if (!trial.attempts.empty()) begun = metrics::SpanOf(trial);
  auto reader = std::make_unique<metrics::GangReader>(wanted, spec.parallel > 1, begun);
  // In the order of the gang: the primary first.
  for (const ReplicaProgram& replica : gang.replicas) {
    const auto metrics = by_replica.find(&replica);
    if (metrics == by_replica.end()) continue;
    VERNIER_ASSIGN_OR_RETURN(
        auto part,
        metrics::ReplicaReader::Create(
            spec, trial, replica, metrics->second, &replica == primary, reader->sightings()));
    reader->Add(std::move(part));
  }
  return std::unique_ptr<MetricReader>(std::move(reader));
}

absl::Status ValidateMetricSources(const StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(metrics::CheckEntries(spec));
  return metrics::CheckFolders(spec);
}

}  // namespace vernier
