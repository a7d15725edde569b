// A CSV header must come first, but its columns of metrics are known only with the last trial. Holding a million trials
// for that would take gigabytes, so rows are written to a temporary file in a simple binary form and copied out at the
// end. TrialCsvRows and TrialCsv must give the same columns.

#include "src/cli/trial_csv.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/cli/terminal/output.h"
#include "src/core/counted_metrics.h"
#include "src/core/running_time.h"
#include "src/core/status.h"
#include "src/core/stopped_early.h"

namespace vernier::cli {
namespace {

// How long an ended trial ran.
std::optional<double> SecondsOf(const Trial& trial) {
  if (!trial.ended) return std::nullopt;
  const std::optional<absl::Duration> time = RunningTime(trial, *trial.ended);
  return time ? std::optional(absl::ToDoubleSeconds(*time)) : std::nullopt;
}

using nlohmann::ordered_json;

// Columns after metrics and parameters, in the order of PutAfter.
constexpr const char* kLastColumns[] = {"create_time",
                                        "start_time",
                                        "end_time",
                                        "failure",
                                        "message",
                                        "stopped",
                                        "measurements",
                                        "attempts",
                                        "duration"};

std::string CsvTime(const std::optional<absl::Time>& time) {
  if (!time) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", *time, absl::UTCTimeZone());
}

ordered_json TimeOrNothing(const std::optional<absl::Time>& time) {
  return time ? ordered_json(CsvTime(time)) : ordered_json();
}

// Reads the rows of TrialCsv's file. After the first failed read everything is empty, so that callers check ok() once.
class RowReader {
 public:
  explicit RowReader(std::FILE& file) : file_(file) {}

  bool ok() const { return ok_; }
  std::string Text() {
    const auto size = Take<std::uint64_t>();
    std::string text(size, '\0');
    ok_ = ok_ && std::fread(text.data(), 1, text.size(), &file_) == text.size();
    return text;
  }
  // The metrics' fields of a row, `width` of them; columns[i] is the field of the metric with index i.
  const std::vector<std::string>& Fields(const std::vector<std::size_t>& columns,
                                         std::size_t width) {
    fields_.assign(width, "");
    const auto count = Take<std::uint64_t>();
    for (std::uint64_t i = 0; i < count && ok_; ++i) {
      const auto index = Take<std::uint32_t>();
      fields_[columns[index]] = PlainText(Take<double>());
    }
    return fields_;
  }

 private:
  template <typename T>
  T Take() {
    T value{};
    ok_ = ok_ && std::fread(&value, sizeof value, 1, &file_) == 1;
    return ok_ ? value : T{};
  }

  std::FILE& file_;
  std::vector<std::string> fields_;
  bool ok_ = true;
};

// Metrics in the order of columns: objectives, then the others by name.
std::vector<std::string> InOrder(const StudyRecord& study, std::set<std::string> others) {
  std::vector<std::string> names;
  for (const Objective& objective : study.study.spec.objectives) {
    names.push_back(objective.metric);
    others.erase(objective.metric);
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace

std::vector<std::string> MetricNames(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials) {
  std::set<std::string> names;
  for (const TrialRecord& record : trials) {
    for (const auto& [name, value] : CountedValues(record.trial)) names.insert(name);
  }
  return InOrder(study, std::move(names));
}

ordered_json TrialCsvRows(const StudyRecord& study, const std::vector<TrialRecord>& trials) {
  const std::vector<std::string> metrics = MetricNames(study, trials);
  auto rows = ordered_json::array();
  for (const TrialRecord& record : trials) {
    const Trial& trial = record.trial;
    ordered_json row = {{"number", trial.number.value()}, {"state", TrialStateName(trial.state)}};
    if (!study.outcome_constraints.empty()) {
      row["feasible"] = trial.state == TrialState::kCompleted
                            ? ordered_json(!study.BreaksConstraint(trial))
                            : ordered_json();
    }
    for (const std::string& metric : metrics) {
      const auto value = ObjectiveOf(trial, metric);
      row["metrics." + metric] = value ? ordered_json(*value) : ordered_json();
    }
    for (const std::string& name : study.parameter_names()) {
      const auto value = trial.point.find(name);
      row["parameters." + name] =
          value == trial.point.end() ? ordered_json() : ordered_json(FormatValue(value->second));
    }
    row["create_time"] = TimeOrNothing(trial.created);
    row["start_time"] = TimeOrNothing(trial.started);
    row["end_time"] = TimeOrNothing(trial.ended);
    row["failure"] = trial.failure == FailureClass::kNone
                         ? ordered_json()
                         : ordered_json(FailureClassName(trial.failure));
    row["message"] = trial.message;
    row["stopped"] = IsStoppedEarly(trial);
    row["measurements"] = trial.measurements;
    row["attempts"] = trial.attempts.size();
    const std::optional<double> seconds = SecondsOf(trial);
    row["duration"] = seconds ? ordered_json(*seconds) : ordered_json();
    rows.push_back(std::move(row));
  }
  return rows;
}

// A row of the file: length and text of the columns before the metrics; number of metrics, and index and value of each;
// length and text of the columns after them.
TrialCsv::TrialCsv(const StudyRecord& study)
    : study_(study), parameters_(study.parameter_names()), rows_(std::tmpfile()) {}

absl::Status TrialCsv::Add(const Trial& trial) {
  if (rows_ == nullptr) return Unavailable("no temporary file can be made");
  PutBefore(trial);
  PutMetrics(trial);
  PutAfter(trial);
  ++count_;
  // The stream remembers whether any write failed, so that their results need no check.
  return std::ferror(rows_.get()) == 0
             ? absl::OkStatus()
             : Unavailable("the temporary file of the list cannot be written");
}

std::uint32_t TrialCsv::IndexOf(const std::string& metric) {
  // A new metric gets the next index, so that rows which were written before stay valid.
  return metrics_.try_emplace(metric, static_cast<std::uint32_t>(metrics_.size())).first->second;
}

void TrialCsv::Put(const std::string& text) {
  const std::uint64_t size = text.size();
  std::fwrite(&size, sizeof size, 1, rows_.get());
  std::fwrite(text.data(), 1, text.size(), rows_.get());
}

void TrialCsv::PutBefore(const Trial& trial) {
  std::string text = fmt::format("{},{}", trial.number.value(), TrialStateName(trial.state));
  if (!study_.outcome_constraints.empty()) {
    const bool is_completed = trial.state == TrialState::kCompleted;
    text += is_completed ? fmt::format(",{}", !study_.BreaksConstraint(trial)) : ",";
  }
  Put(text);
}

void TrialCsv::PutMetrics(const Trial& trial) {
  const std::map<std::string, double> values = CountedValues(trial);
  const std::uint64_t count = values.size();
  std::fwrite(&count, sizeof count, 1, rows_.get());
  for (const auto& [name, value] : values) {
    const std::uint32_t index = IndexOf(name);
    std::fwrite(&index, sizeof index, 1, rows_.get());
    std::fwrite(&value, sizeof value, 1, rows_.get());
  }
}

void TrialCsv::PutAfter(const Trial& trial) {
  std::string text;
  for (const std::string& name : parameters_) {
    const auto value = trial.point.find(name);
    text += ',';
    if (value != trial.point.end()) text += QuoteCsv(FormatValue(value->second));
  }
  const std::string failure(trial.failure == FailureClass::kNone ? ""
                                                                 : FailureClassName(trial.failure));
  text += fmt::format(",{},{},{},{},{},{},{},{},",
                      CsvTime(trial.created),
                      CsvTime(trial.started),
                      CsvTime(trial.ended),
                      failure,
                      QuoteCsv(trial.message),
                      IsStoppedEarly(trial),
                      trial.measurements,
                      trial.attempts.size());
  if (const std::optional<double> seconds = SecondsOf(trial)) text += PlainText(*seconds);
  Put(text);
}

std::vector<std::string> TrialCsv::Header(const std::vector<std::string>& metrics) const {
  std::vector<std::string> header = {"number", "state"};
  if (!study_.outcome_constraints.empty()) header.emplace_back("feasible");
  for (const std::string& metric : metrics) header.push_back("metrics." + metric);
  for (const std::string& name : parameters_) header.push_back("parameters." + name);
  header.insert(header.end(), std::begin(kLastColumns), std::end(kLastColumns));
  return header;
}

std::string TrialCsv::HeaderLine(const std::vector<std::string>& metrics) const {
  std::string line;
  for (const std::string& column : Header(metrics)) {
    line += (line.empty() ? "" : ",") + QuoteCsv(column);
  }
  return line;
}

absl::Status TrialCsv::Write(std::ostream& out, bool headers) {
  // Without rows there is no header either, as with ToCsv.
  if (count_ == 0) return absl::OkStatus();
  std::set<std::string> names;
  for (const auto& [name, index] : metrics_) names.insert(name);
  const std::vector<std::string> metrics = InOrder(study_, std::move(names));
  // IndexOf may add objectives that no trial reported.
  std::vector<std::size_t> columns(metrics_.size() + metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) columns[IndexOf(metrics[i])] = i;
  if (headers) out << HeaderLine(metrics) << '\n';
  std::rewind(rows_.get());
  RowReader reader(*rows_);
  for (std::uint64_t row = 0; row < count_ && reader.ok(); ++row) {
    std::string line = reader.Text();
    for (const std::string& field : reader.Fields(columns, metrics.size())) line += "," + field;
    line += reader.Text();
    // A row that could not be read to its end is left out.
    if (reader.ok()) out << line << '\n';
  }
  out.flush();
  return reader.ok() ? absl::OkStatus()
                     : Unavailable("the temporary file of the list cannot be read");
}

absl::Status WriteTrialCsv(Connection& connection,
                           const StudyRecord& study,
                           const Query& query,
                           std::ostream& out,
                           bool headers) {
  TrialCsv csv(study);
  VERNIER_RETURN_IF_ERROR(ForEachTrial(
      connection, study, query, [&](const TrialRecord& trial) { return csv.Add(trial.trial); }));
  return csv.Write(out, headers);
}

}  // namespace vernier::cli
