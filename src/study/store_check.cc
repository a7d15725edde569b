#include "src/study/store_check.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "src/codec/metadata_form.h"
#include "src/codec/study_file.h"
#include "src/core/damage.h"
#include "src/core/status.h"
#include "src/study/fold_loading.h"
#include "src/study/study_state.h"

namespace vernier::study {
namespace {

using Json = nlohmann::ordered_json;

// Number of differing trials that are named; the others are counted.
constexpr std::size_t kMostNamed = 5;

// The columns of a study's row that follow from its log, by name. Without its best trials and the resources used: in
// stores of earlier versions these are put right by the next event (src/storage/sqlite/migrations).
Json RowOf(const Study& study) {
  const auto number = [](const std::optional<TrialNumber>& trial) {
    return trial.has_value() ? Json(trial->value()) : Json();
  };
  return {{"name", study.spec.name},
          {"state", std::string(StudyStateName(study.state))},
          {"reason", study.reason},
          {"created_at", absl::ToUnixNanos(study.created)},
          {"updated_at", absl::ToUnixNanos(study.updated)},
          {"last_event", study.last_event.value()},
          {"trials", study.trials},
          {"completed", study.completed},
          {"failed", study.failed},
          {"open", study.open},
          {"converged_trial", number(study.converged)},
          {"spec_version", study.spec_version},
          {"spec", codec::StudySpecToJson(study.spec)},
          {"metadata", codec::Form<Metadata>::Write(study.metadata)}};
}

std::string Text(const absl::Status& status) {
  const std::string message(status.message());
  return std::string(WithoutAdvice(message));
}

// The first key whose values differ; empty: none.
std::string DifferingKey(const Json& stored, const Json& folded) {
  for (const auto& [key, value] : folded.items()) {
    if (!stored.contains(key) || codec::ToText(stored[key]) != codec::ToText(value)) return key;
  }
  for (const auto& [key, value] : stored.items()) {
    if (!folded.contains(key)) return key;
  }
  return "";
}

class Check {
 public:
  Check(const Storage& storage, const StudyKey& study)
      : storage_(storage), result_{.study = study} {}

  StudyCheck Run() && {
    const absl::StatusOr<Study> row = storage_.GetStudy(result_.study.id);
    if (row.ok()) {
      result_.state = StudyStateName(row->state);
    } else {
      Note(fmt::format("its row: {}", Text(row.status())));
    }
    const absl::Status folded = Fold();
    if (!folded.ok()) Note(fmt::format("its log: {}", Text(folded)));
    if (!folded.ok() && row.ok()) result_.events = row->last_event.value();
    if (folded.ok() && row.ok()) CompareRow(*row);
    if (folded.ok()) CompareSnapshot();
    CompareTrials(folded.ok());
    return std::move(result_);
  }

 private:
  void Note(std::string problem) { result_.problems.push_back(std::move(problem)); }

  absl::Status Fold() {
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(
          const std::vector<Event> events,
          storage_.ReadEvents(result_.study.id, EventSeq(result_.events), kEventPage));
      for (const Event& event : events) VERNIER_RETURN_IF_ERROR(Add(event));
      if (events.size() < kEventPage) break;
    }
    return fold_.has_value() ? absl::OkStatus() : DataLoss("it has no events");
  }

  absl::Status Add(const Event& event) {
    if (fold_.has_value()) {
      VERNIER_RETURN_IF_ERROR(fold_->Apply(event));
    } else {
      VERNIER_ASSIGN_OR_RETURN(fold_, StudyFold::Start(result_.study.id, event));
    }
    ++result_.events;
    return absl::OkStatus();
  }

  void CompareRow(const Study& row) {
    const Study& folded = fold_->header();
    // The end of the log is missing. That other columns differ as well follows from it.
    if (row.last_event > folded.last_event) {
      Note(fmt::format("its log ends at event {}, {} were stored",
                       folded.last_event.value(),
                       row.last_event.value()));
      return;
    }
    const std::string column = DifferingKey(RowOf(row), RowOf(folded));
    if (!column.empty()) Note(fmt::format("column '{}' is not what its log comes to", column));
  }

  void CompareSnapshot() {
    const absl::StatusOr<std::optional<StudyFold>> restored =
        FoldSnapshot(storage_, result_.study.id);
    if (!restored.ok()) return Note(fmt::format("its snapshot: {}", Text(restored.status())));
    if (!restored->has_value()) return;
    const std::string what = fold_->DifferenceTo(**restored);
    if (!what.empty()) Note(fmt::format("its snapshot: {} is not what its log comes to", what));
  }

  void CompareTrials(bool has_fold) {
    const absl::StatusOr<std::vector<Trial>> rows =
        storage_.ListTrials(result_.study.id, TrialNumber(0), SIZE_MAX);
    if (!rows.ok()) return Note(fmt::format("its trials: {}", Text(rows.status())));
    result_.trials = static_cast<std::int64_t>(rows->size());
    if (!has_fold) return;
    if (result_.trials != fold_->header().trials) {
      Note(fmt::format(
          "its log has {} trials, {} are stored", fold_->header().trials, rows->size()));
    }
    std::size_t differing = 0;
    for (const Trial& row : *rows) differing += CompareTrial(row, differing) ? 0 : 1;
    if (differing > kMostNamed) Note(fmt::format("{} more trials differ", differing - kMostNamed));
  }

  // Whether it is what the log comes to.
  bool CompareTrial(const Trial& row, std::size_t differing) {
    const TrialEntry* const folded = fold_->Find(row.number);
    std::string problem;
    if (folded == nullptr) {
      problem = "is not in its log";
    } else {
      const std::string key =
          DifferingKey(codec::TrialToJson(row), codec::TrialToJson(folded->trial));
      if (!key.empty()) problem = fmt::format("'{}' is not what its log comes to", key);
    }
    if (problem.empty()) return true;
    if (differing < kMostNamed) Note(fmt::format("trial {}: {}", row.number.value(), problem));
    return false;
  }

  const Storage& storage_;
  StudyCheck result_;
  std::optional<StudyFold> fold_;
};

}  // namespace

StudyCheck CheckStudy(const Storage& storage, const StudyKey& study) {
  return Check(storage, study).Run();
}

}  // namespace vernier::study
