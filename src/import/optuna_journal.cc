// A journal of Optuna: one JSON object in a line for each change, numbered by kind. A change that its writer's storage
// refused, such as a second end of a trial, is in the file, too, and is skipped as Optuna skips it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "src/codec/json_text.h"
#include "src/core/status.h"
#include "src/import/input.h"
#include "src/import/optuna.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

enum Operation {
  kCreateStudy = 0,
  kDeleteStudy = 1,
  kSetStudyUserAttribute = 2,
  kSetStudySystemAttribute = 3,
  kCreateTrial = 4,
  kSetParameter = 5,
  kSetStateValues = 6,
  kSetIntermediateValue = 7,
  kSetTrialUserAttribute = 8,
  kSetTrialSystemAttribute = 9,
};

constexpr std::array kDirections = {"NOT_SET", "MINIMIZE", "MAXIMIZE"};
constexpr std::array kStates = {OptunaState::kRunning,
                                OptunaState::kComplete,
                                OptunaState::kPruned,
                                OptunaState::kFail,
                                OptunaState::kWaiting};

std::optional<std::size_t> IndexOf(const Json& json, std::string_view key, std::size_t end) {
  const Json& member = Member(json, key);
  if (!member.is_number_integer()) return std::nullopt;
  const auto index = member.get<std::int64_t>();
  if (index < 0 || !std::cmp_less(index, end)) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// A metric's value; text is NaN or an infinity, as ParseJson has it.
double MetricOf(const Json& json) {
  const std::optional<double> number =
      NumberOf(json.is_string() ? ValueOfText(json.get<std::string>()) : ValueOf(json));
  return number.value_or(std::numeric_limits<double>::quiet_NaN());
}

class Journal {
 public:
  absl::Status Apply(const Json& entry, std::size_t line) {
    const Json& code = Member(entry, "op_code");
    if (!code.is_number_integer()) {
      return InvalidArgument("line {}: is not an entry of a journal of Optuna", line);
    }
    const auto operation = code.get<std::int64_t>();
    if (operation < kCreateStudy || operation > kSetTrialSystemAttribute) {
      return InvalidArgument("line {}: unknown op_code {}", line, operation);
    }
    if (operation == kCreateStudy) return CreateStudy(entry, line);
    if (operation <= kCreateTrial) {
      const auto study = IndexOf(entry, "study_id", studies_.size());
      if (!study.has_value()) return InvalidArgument("line {}: study_id names no study", line);
      ApplyToStudy(operation, entry, *study);
      return absl::OkStatus();
    }
    const auto trial = IndexOf(entry, "trial_id", trials_.size());
    if (!trial.has_value()) return InvalidArgument("line {}: trial_id names no trial", line);
    return ApplyToTrial(operation, entry, *trial, line);
  }

  absl::StatusOr<OptunaStudy> Take(const std::string& wanted) {
    std::vector<std::string> names;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < studies_.size(); ++i) {
      if (is_deleted_[i]) continue;
      names.push_back(studies_[i].name);
      places.push_back(i);
    }
    VERNIER_ASSIGN_OR_RETURN(const std::size_t picked, PickStudy(names, wanted));
    OptunaStudy& study = studies_[places[picked]];
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      if (owners_[i] == places[picked]) study.trials.push_back(std::move(trials_[i]));
    }
    return std::move(study);
  }

 private:
  absl::Status CreateStudy(const Json& entry, std::size_t line) {
    OptunaStudy study{.name = TextMember(entry, "study_name")};
    const bool is_known = std::ranges::any_of(studies_, [&](const OptunaStudy& other) {
      const auto place = static_cast<std::size_t>(&other - studies_.data());
      return other.name == study.name && !is_deleted_[place];
    });
    if (is_known) return absl::OkStatus();  // Refused there: the name was taken.
    for (const Json& direction : Member(entry, "directions")) {
      const auto index = direction.is_number_integer() ? direction.get<std::int64_t>() : -1;
      if (index < 0 || !std::cmp_less(index, kDirections.size())) {
        return InvalidArgument("line {}: unknown direction {}", line, codec::ToText(direction));
      }
      study.directions.emplace_back(kDirections[static_cast<std::size_t>(index)]);
    }
    studies_.push_back(std::move(study));
    is_deleted_.push_back(false);
    counts_.push_back(0);
    return absl::OkStatus();
  }

  void ApplyToStudy(std::int64_t operation, const Json& entry, std::size_t study) {
    if (operation == kDeleteStudy) is_deleted_[study] = true;
    if (operation == kSetStudyUserAttribute) {
      SetAttributes(Member(entry, "user_attr"), studies_[study].user);
    }
    if (operation == kSetStudySystemAttribute) {
      SetAttributes(Member(entry, "system_attr"), studies_[study].system);
    }
    if (operation == kCreateTrial) CreateTrial(entry, study);
  }

  static void SetAttributes(const Json& given, std::map<std::string, std::string>& attributes) {
    if (!given.is_object()) return;
    for (const auto& [name, value] : given.items()) attributes[name] = codec::ToText(value);
  }

  static OptunaState StateOf(const Json& entry, OptunaState otherwise) {
    const auto state = IndexOf(entry, "state", kStates.size());
    return state.has_value() ? kStates[*state] : otherwise;
  }

  // A trial may be created with all it has.
  void CreateTrial(const Json& entry, std::size_t study) {
    OptunaTrial trial{.number = counts_[study]++,
                      .state = StateOf(entry, OptunaState::kRunning),
                      .start = TextMember(entry, "datetime_start"),
                      .complete = TextMember(entry, "datetime_complete")};
    const Json& distributions = Member(entry, "distributions");
    if (distributions.is_object()) {
      for (const auto& [name, value] : distributions.items()) {
        SetParameter(trial, name, Member(Member(entry, "params"), name), value);
      }
    }
    SetValues(entry, trial);
    SetAttributes(Member(entry, "user_attrs"), trial.user);
    SetAttributes(Member(entry, "system_attrs"), trial.system);
    const Json& curve = Member(entry, "intermediate_values");
    if (curve.is_object()) {
      for (const auto& [step, value] : curve.items()) {
        const ParameterValue number = ValueOfText(step);
        if (const auto* const at = std::get_if<std::int64_t>(&number))
          trial.curve[*at] = MetricOf(value);
      }
    }
    trials_.push_back(std::move(trial));
    owners_.push_back(study);
  }

  static void SetParameter(OptunaTrial& trial,
                           const std::string& name,
                           const Json& internal,
                           const Json& distribution) {
    if (!internal.is_number() || !distribution.is_string()) return;
    if (!trial.internal.contains(name)) trial.order.push_back(name);
    trial.internal[name] = internal.get<double>();
    trial.distributions[name] = distribution.get<std::string>();
  }

  static void SetValues(const Json& entry, OptunaTrial& trial) {
    const Json& values = Member(entry, "values");
    if (values.is_array()) {
      trial.values.clear();
      for (const Json& value : values) trial.values.push_back(MetricOf(value));
    }
    const Json& value = Member(entry, "value");
    if (!value.is_null()) trial.values = {MetricOf(value)};
  }

  absl::Status ApplyToTrial(std::int64_t operation,
                            const Json& entry,
                            std::size_t index,
                            std::size_t line) {
    OptunaTrial& trial = trials_[index];
    const bool is_open =
        trial.state == OptunaState::kRunning || trial.state == OptunaState::kWaiting;
    if (!is_open) return absl::OkStatus();
    switch (operation) {
      case kSetParameter:
        SetParameter(trial,
                     TextMember(entry, "param_name"),
                     Member(entry, "param_value_internal"),
                     Member(entry, "distribution"));
        break;
      case kSetStateValues:
        trial.state = StateOf(entry, trial.state);
        SetValues(entry, trial);
        if (const auto start = TextMember(entry, "datetime_start"); !start.empty())
          trial.start = start;
        trial.complete = TextMember(entry, "datetime_complete");
        break;
      case kSetIntermediateValue: {
        const Json& step = Member(entry, "step");
        if (!step.is_number_integer())
          return InvalidArgument("line {}: step must be an integer", line);
        trial.curve[step.get<std::int64_t>()] = MetricOf(Member(entry, "intermediate_value"));
        break;
      }
      case kSetTrialUserAttribute:
        SetAttributes(Member(entry, "user_attr"), trial.user);
        break;
      default:
        SetAttributes(Member(entry, "system_attr"), trial.system);
    }
    return absl::OkStatus();
  }

  std::vector<OptunaStudy> studies_;
  std::vector<bool> is_deleted_;      // By study.
  std::vector<std::int64_t> counts_;  // Of trials, by study.
  std::vector<OptunaTrial> trials_;   // Of all studies, by id.
  std::vector<std::size_t> owners_;   // Study of each.
};

// The text up to its last line end, unless the rest is an entry too.
std::string_view WithoutUnfinishedLine(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  if (end == text.npos || ParseJson(text.substr(end + 1), "").ok()) return text;
  return text.substr(0, end + 1);
}

}  // namespace

absl::StatusOr<SourceStudy> ReadOptunaJournal(const std::string& path,
                                              const ImportOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Journal journal;
  const auto apply = [&](std::string_view line, std::size_t number) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Json entry, ParseJson(line, fmt::format("line {}", number)));
    return journal.Apply(entry, number);
  };
  const std::string_view whole = WithoutUnfinishedLine(text);
  VERNIER_RETURN_IF_ERROR(ForEachLine(whole, apply));
  VERNIER_ASSIGN_OR_RETURN(const OptunaStudy study, journal.Take(options.study));
  VERNIER_ASSIGN_OR_RETURN(SourceStudy source, FromOptuna(study));
  if (whole.size() < text.size()) {
    source.Note(
        "journal: its last line is incomplete, and left out: a program was writing it, or was "
        "ended");
  }
  return source;
}

}  // namespace vernier::imports
