// The protocol for programs in other languages, and for comparing optimisers: no store, no server, no files. Parsing
// comes first in each request and changes of the session last, so that a request that fails changes nothing. Unknown
// keys are ignored, `budget` and `batch` among them.

#include "src/cli/ask_tell/session.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/status.h"
#include "vernier/core/limits.h"
#include "vernier/core/study.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersion = "vernier 0.1.0";

absl::StatusOr<const Json*> Required(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return InvalidArgument("{}: is missing", key);
  return &*found;
}

absl::StatusOr<std::uint64_t> Natural(const Json& request, const char* key) {
  VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(request, key));
  // The parser takes a whole number without a sign for unsigned.
  if (!value->is_number_unsigned()) {
    return InvalidArgument("{}: must be a whole number of at least 0, got {}", key, value->dump());
  }
  return value->get<std::uint64_t>();
}

absl::StatusOr<Goal> ParseGoal(const Json& goal) {
  if (goal == "minimize") return Goal::kMinimize;
  if (goal == "maximize") return Goal::kMaximize;
  return InvalidArgument("goal: must be minimize or maximize, got {}", goal.dump());
}

// "goal" is one goal, or a list of them: one for each objective.
absl::StatusOr<std::vector<Objective>> ParseObjectives(const Json& request) {
  const auto found = request.find("goal");
  const Json goals = found == request.end() ? Json("minimize") : *found;
  if (!goals.is_array()) {
    VERNIER_ASSIGN_OR_RETURN(const Goal goal, ParseGoal(goals));
    return std::vector<Objective>{{.metric = "value", .goal = goal}};
  }
  std::vector<Objective> objectives;
  for (const Json& text : goals) {
    VERNIER_ASSIGN_OR_RETURN(const Goal goal, ParseGoal(text));
    objectives.push_back({.metric = fmt::format("value {}", objectives.size() + 1), .goal = goal});
  }
  if (objectives.empty()) return InvalidArgument("goal: must name at least one goal");
  return objectives;
}

absl::StatusOr<std::vector<std::string>> ParseConstraints(const Json& request) {
  const auto found = request.find("outcome_constraints");
  if (found == request.end()) return std::vector<std::string>();
  if (!found->is_array()) {
    return InvalidArgument("outcome_constraints: must be a list, got {}", found->dump());
  }
  std::vector<std::string> constraints;
  for (const Json& text : *found) {
    if (!text.is_string()) {
      return InvalidArgument("outcome_constraints: must be texts, got {}", text.dump());
    }
    constraints.push_back(text.get<std::string>());
  }
  return constraints;
}

absl::StatusOr<std::string> ParseAlgorithm(const Json& request) {
  const auto algorithm = request.find("algorithm");
  if (algorithm == request.end() || *algorithm == "default") return std::string("gp");
  if (algorithm->is_string()) return algorithm->get<std::string>();
  return InvalidArgument("algorithm: must be text, got {}", algorithm->dump());
}

// A rule's name, or {"rule": NAME, OPTION: VALUE …} as in a study file.
absl::StatusOr<Choice> ParseStopping(const Json& request) {
  const auto stopping = request.find("stopping");
  if (stopping == request.end()) return Choice{.name = "none", .options = {}};
  if (stopping->is_string()) return Choice{.name = stopping->get<std::string>(), .options = {}};
  if (!stopping->is_object()) {
    return InvalidArgument("stopping: must be text or an object, got {}", stopping->dump());
  }
  Choice choice;
  for (const auto& [key, value] : stopping->items()) {
    if (key == "rule" && value.is_string()) {
      choice.name = value.get<std::string>();
    } else if (value.is_number_integer()) {
      choice.options[key] = value.get<std::int64_t>();
    } else if (value.is_number()) {
      choice.options[key] = value.get<double>();
    } else if (value.is_boolean()) {
      choice.options[key] = value.get<bool>();
    } else if (value.is_string()) {
      choice.options[key] = value.get<std::string>();
    } else {
      return InvalidArgument(
          "stopping.{}: must be a number, text, true or false, got {}", key, value.dump());
    }
  }
  if (choice.name.empty()) return InvalidArgument("stopping.rule: is missing");
  return choice;
}

// "curve": {"pausing": true}: a trial that was stopped can go on.
absl::StatusOr<bool> ParsePausing(const Json& request) {
  const auto curve = request.find("curve");
  if (curve == request.end()) return false;
  if (!curve->is_object()) {
    return InvalidArgument("curve: must be an object, got {}", curve->dump());
  }
  const Json pausing = curve->value("pausing", Json(false));
  if (pausing.is_boolean()) return pausing.get<bool>();
  return InvalidArgument("curve.pausing: must be true or false, got {}", pausing.dump());
}

absl::StatusOr<TrialNumber> ParseTrial(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const Json* id, Required(request, "id"));
  if (!id->is_number_integer()) {
    return InvalidArgument("id: must be the number of a trial, got {}", id->dump());
  }
  return TrialNumber(id->get<std::int64_t>());
}

absl::Status CheckLength(const char* key, std::size_t length, std::size_t wanted) {
  if (length == wanted) return absl::OkStatus();
  return InvalidArgument("{}: needs {} numbers, got {}", key, wanted, length);
}

// A list of `count` numbers; a single number may stand without a list. null: the trial failed to give this value.
absl::StatusOr<std::vector<double>> ParseValues(const Json& values, std::size_t count) {
  std::vector<double> numbers;
  for (const Json& value : values.is_array() ? values : Json::array({values})) {
    if (!value.is_number() && !value.is_null()) {
      return InvalidArgument("value: must be a number or null, got {}", value.dump());
    }
    numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                      : value.get<double>());
  }
  VERNIER_RETURN_IF_ERROR(CheckLength("value", numbers.size(), count));
  return numbers;
}

// A list of `count` numbers, with null for unknown slacks; if the key is absent, all are unknown.
absl::StatusOr<std::vector<double>> ParseSlacks(const Json& trial, std::size_t count) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto found = trial.find("slacks");
  if (found == trial.end()) return std::vector<double>(count, kUnknown);
  if (!found->is_array()) return InvalidArgument("slacks: must be a list, got {}", found->dump());
  std::vector<double> slacks;
  for (const Json& slack : *found) {
    if (!slack.is_number() && !slack.is_null()) {
      return InvalidArgument("slacks: must be numbers or null, got {}", slack.dump());
    }
    slacks.push_back(slack.is_null() ? kUnknown : slack.get<double>());
  }
  VERNIER_RETURN_IF_ERROR(CheckLength("slacks", slacks.size(), count));
  return slacks;
}

// The result of a trial.
struct TrialResult {
  std::vector<double> values;
  std::vector<double> slacks;
};

absl::StatusOr<TrialResult> ParseResult(const Json& trial,
                                        std::size_t objectives,
                                        std::size_t constraints) {
  VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(trial, "value"));
  TrialResult told;
  VERNIER_ASSIGN_OR_RETURN(told.values, ParseValues(*value, objectives));
  VERNIER_ASSIGN_OR_RETURN(told.slacks, ParseSlacks(trial, constraints));
  return told;
}

// Completed trials from elsewhere, which have no numbers here: a list under "trials".
absl::StatusOr<std::vector<Observation>> ParseTrials(const Json& request,
                                                     const SpaceCodec& codec,
                                                     std::size_t objectives,
                                                     std::size_t constraints) {
  VERNIER_ASSIGN_OR_RETURN(const Json* list, Required(request, "trials"));
  if (!list->is_array()) return InvalidArgument("trials: must be a list");
  std::vector<Observation> trials;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& trial = (*list)[i];
    if (!trial.is_object()) return InvalidArgument("trials[{}]: must be an object", i);
    VERNIER_ASSIGN_OR_RETURN(const Json* params, Required(trial, "params"));
    VERNIER_ASSIGN_OR_RETURN(Point point, codec.Decode(*params));
    VERNIER_ASSIGN_OR_RETURN(TrialResult told, ParseResult(trial, objectives, constraints));
    trials.push_back({.point = std::move(point),
                      .values = std::move(told.values),
                      .slacks = std::move(told.slacks)});
  }
  return trials;
}

// "earlier": studies to start from, each {"name": …, "trials": […]}.
absl::StatusOr<std::vector<EarlierStudy>> ParseEarlier(const Json& request,
                                                       const SpaceCodec& codec,
                                                       std::size_t objectives,
                                                       std::size_t constraints) {
  std::vector<EarlierStudy> earlier;
  const auto found = request.find("earlier");
  if (found == request.end()) return earlier;
  if (!found->is_array()) return InvalidArgument("earlier: must be a list, got {}", found->dump());
  for (const Json& study : *found) {
    if (!study.is_object())
      return InvalidArgument("earlier: must hold objects, got {}", study.dump());
    const Json name = study.value("name", Json("earlier"));
    if (!name.is_string())
      return InvalidArgument("earlier: a name must be text, got {}", name.dump());
    VERNIER_ASSIGN_OR_RETURN(std::vector<Observation> trials,
                             ParseTrials(study, codec, objectives, constraints));
    earlier.push_back({.name = name.get<std::string>(), .trials = std::move(trials)});
  }
  return earlier;
}

Json Ok() { return {{"ok", true}}; }

// Answers must be valid JSON whatever the request contained, so invalid UTF-8 is replaced.
std::string ToLine(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The word around `end`, where the parser gave up.
std::string_view WordAround(std::string_view text, std::size_t end) {
  const auto is_inside = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-';
  };
  std::size_t begin = std::min(end, text.size());
  while (begin > 0 && is_inside(text[begin - 1])) --begin;
  end = begin;
  while (end < text.size() && is_inside(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Whether it is how a language prints a number that is not finite: "NaN", "-Infinity", "inf".
bool IsNotFinite(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](char c) { return static_cast<char>(c | 0x20); });
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// Numbers that are not finite get messages of their own: many JSON libraries write them.
absl::StatusOr<Json> ParseRequest(std::string_view line) {
  constexpr std::string_view kInstead = "numbers must be finite, send null for a value that is not";
  try {
    return Json::parse(line);
  } catch (const Json::out_of_range&) {
    return InvalidArgument("request: a number is too large for a double: {}", kInstead);
  } catch (const Json::parse_error& error) {
    const std::string_view word = WordAround(line, error.byte);
    if (IsNotFinite(word)) return InvalidArgument("request: JSON has no {}: {}", word, kInstead);
    return InvalidArgument("request: is no valid JSON");
  }
}

std::string ErrorLine(const absl::Status& status) {
  return ToLine({{"error", std::string(status.message())}});
}

}  // namespace

std::optional<std::string> AskTellSession::Handle(std::string_view line) {
  const absl::StatusOr<Json> request = ParseRequest(line);
  if (!request.ok()) return ErrorLine(request.status());
  if (!request->is_object()) return ErrorLine(InvalidArgument("request: must be an object"));
  const auto op = request->find("op");
  if (op == request->end() || !op->is_string()) {
    return ErrorLine(InvalidArgument("op: must be create, ask, report, tell, load or close"));
  }
  if (*op == "close") return std::nullopt;
  const absl::StatusOr<Json> answer = Dispatch(op->get<std::string>(), *request);
  return answer.ok() ? ToLine(*answer) : ErrorLine(answer.status());
}

absl::StatusOr<Json> AskTellSession::Dispatch(const std::string& op, const Json& request) {
  if (op == "create") return Create(request);
  if (op != "ask" && op != "report" && op != "tell" && op != "load") {
    return InvalidArgument("op: must be create, ask, report, tell, load or close, got '{}'", op);
  }
  if (!optimizer_) return FailedPrecondition("op: '{}' before create", op);
  if (op == "ask") return Ask(request);
  if (op == "report") return Report(request);
  return op == "tell" ? Tell(request) : Load(request);
}

absl::StatusOr<Json> AskTellSession::Create(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const Json* parameters, Required(request, "space"));
  VERNIER_ASSIGN_OR_RETURN(SpaceCodec codec, SpaceCodec::Parse(*parameters));
  VERNIER_ASSIGN_OR_RETURN(const std::uint64_t seed, Natural(request, "seed"));
  Problem problem = {.space = codec.space(), .objectives = {}};
  VERNIER_ASSIGN_OR_RETURN(problem.objectives, ParseObjectives(request));
  VERNIER_ASSIGN_OR_RETURN(problem.outcome_constraints, ParseConstraints(request));
  VERNIER_ASSIGN_OR_RETURN(std::string algorithm, ParseAlgorithm(request));
  VERNIER_ASSIGN_OR_RETURN(const Choice stopping, ParseStopping(request));
  VERNIER_ASSIGN_OR_RETURN(const bool pausing, ParsePausing(request));
  const std::size_t objectives = problem.objectives.size();
  const std::size_t constraints = problem.outcome_constraints.size();
  VERNIER_ASSIGN_OR_RETURN(problem.earlier, ParseEarlier(request, codec, objectives, constraints));
  VERNIER_ASSIGN_OR_RETURN(AskTell optimizer,
                           AskTell::Create(std::move(problem),
                                           {.name = std::move(algorithm), .options = {}},
                                           seed,
                                           AlgorithmCatalogue::BuiltIn(),
                                           stopping,
                                           pausing));
  // Nothing fails from here on, so that a refused request leaves the session as it was.
  codec_ = std::move(codec);
  objectives_ = objectives;
  constraints_ = constraints;
  optimizer_ = std::move(optimizer);
  // They were made by the optimiser before.
  waiting_.clear();
  Json answer = Ok();
  answer["version"] = kVersion;
  return answer;
}

absl::StatusOr<Json> AskTellSession::Ask(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const std::uint64_t count, Natural(request, "n"));
  if (count < 1 || count > limits::kAsked) {
    return InvalidArgument("n: must be from 1 to {}, got {}", limits::kAsked, count);
  }
  // The optimiser counts what it has proposed as pending, so proposals must not be dropped: they wait for the next
  // request.
  if (waiting_.size() < count) {
    VERNIER_ASSIGN_OR_RETURN(std::vector<AskTell::Asked> asked,
                             optimizer_->Ask(count - waiting_.size()));
    std::move(asked.begin(), asked.end(), std::back_inserter(waiting_));
  }
  if (waiting_.size() < count) {
    return OutOfRange(
        "n: points that the space has left: {}, asked for {}", waiting_.size(), count);
  }
  Json trials = Json::array();
  for (const AskTell::Asked& trial : waiting_) {
    trials.push_back(
        {{"id", trial.trial.value()}, {"params", codec_->Encode(trial.suggestion.point)}});
    if (trial.resume_from.has_value()) trials.back()["resume_from"] = *trial.resume_from;
  }
  waiting_.clear();
  return Json({{"trials", std::move(trials)}});
}

absl::StatusOr<Json> AskTellSession::Report(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const TrialNumber trial, ParseTrial(request));
  VERNIER_ASSIGN_OR_RETURN(const std::uint64_t step, Natural(request, "step"));
  constexpr std::uint64_t kMostStep = std::numeric_limits<std::int64_t>::max();
  if (step > kMostStep) return InvalidArgument("step: must be at most {}, got {}", kMostStep, step);
  VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(request, "value"));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<double> values, ParseValues(*value, 1));
  VERNIER_ASSIGN_OR_RETURN(
      const Verdict verdict,
      optimizer_->Report(trial, static_cast<std::int64_t>(step), values.front()));
  Json answer = Ok();
  answer["stop"] = verdict.stop;
  if (verdict.stop) answer["reason"] = verdict.explanation;
  return answer;
}

absl::StatusOr<Json> AskTellSession::Tell(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const TrialNumber trial, ParseTrial(request));
  const Json status = request.value("status", Json("completed"));
  const std::array<std::string_view, 3> known = {"completed", "stopped", "failed"};
  if (std::ranges::find(known, status) == known.end()) {
    return InvalidArgument(
        "status: must be \"{}\", got {}", fmt::join(known, "\", \""), status.dump());
  }
  // A trial that failed needs no value.
  if (status == "failed") {
    VERNIER_RETURN_IF_ERROR(optimizer_->TellFailed(trial));
    return Ok();
  }
  VERNIER_ASSIGN_OR_RETURN(TrialResult told, ParseResult(request, objectives_, constraints_));
  VERNIER_RETURN_IF_ERROR(
      status == "stopped"
          ? optimizer_->TellStopped(trial, std::move(told.values), std::move(told.slacks))
          : optimizer_->Tell(trial, std::move(told.values), std::move(told.slacks)));
  return Ok();
}

absl::StatusOr<Json> AskTellSession::Load(const Json& request) {
  // All are parsed before the first is added, so that an invalid one changes nothing.
  VERNIER_ASSIGN_OR_RETURN(std::vector<Observation> trials,
                           ParseTrials(request, *codec_, objectives_, constraints_));
  for (Observation& trial : trials) {
    VERNIER_RETURN_IF_ERROR(
        optimizer_->Add(trial.point, std::move(trial.values), std::move(trial.slacks)));
  }
  return Ok();
}

}  // namespace vernier::cli
