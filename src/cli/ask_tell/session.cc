#include "src/cli/ask_tell/session.h"

#include <iterator>
#include <utility>
#include <vector>

#include "src/core/status.h"
#include "vernier/core/study.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersion = "vernier 0.1.0";
constexpr std::size_t kMostAtOnce = 10000;

absl::StatusOr<const Json*> Required(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return InvalidArgument("{}: is missing", key);
  return &*found;
}

absl::StatusOr<std::uint64_t> Natural(const Json& request, const char* key) {
  VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(request, key));
  if (!value->is_number_unsigned()) {
    return InvalidArgument("{}: must be a whole number of at least 0, got {}", key, value->dump());
  }
  return value->get<std::uint64_t>();
}

absl::StatusOr<Goal> ParseGoal(const Json& request) {
  const auto goal = request.find("goal");
  if (goal == request.end() || *goal == "minimize") return Goal::kMinimize;
  if (*goal == "maximize") return Goal::kMaximize;
  return InvalidArgument("goal: must be minimize or maximize, got {}", goal->dump());
}

absl::StatusOr<std::string> ParseAlgorithm(const Json& request) {
  const auto algorithm = request.find("algorithm");
  if (algorithm == request.end() || *algorithm == "default") return std::string("gp");
  if (algorithm->is_string()) return algorithm->get<std::string>();
  return InvalidArgument("algorithm: must be text, got {}", algorithm->dump());
}

absl::StatusOr<double> ParseValue(const Json& value) {
  if (!value.is_number()) return InvalidArgument("value: must be a number, got {}", value.dump());
  return value.get<double>();
}

Json Ok() { return {{"ok", true}}; }

// Answers must be JSON whatever the request held, so bytes that are no UTF-8 are replaced.
std::string ToLine(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ErrorLine(const absl::Status& status) {
  return ToLine({{"error", std::string(status.message())}});
}

}  // namespace

std::optional<std::string> AskTellSession::Handle(std::string_view line) {
  const Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (request.is_discarded()) return ErrorLine(InvalidArgument("request: is no valid JSON"));
  if (!request.is_object()) return ErrorLine(InvalidArgument("request: must be an object"));
  const auto op = request.find("op");
  if (op == request.end() || !op->is_string()) {
    return ErrorLine(InvalidArgument("op: must be create, ask, tell, load or close"));
  }
  if (*op == "close") return std::nullopt;
  const absl::StatusOr<Json> answer = Dispatch(op->get<std::string>(), request);
  return answer.ok() ? ToLine(*answer) : ErrorLine(answer.status());
}

absl::StatusOr<Json> AskTellSession::Dispatch(const std::string& op, const Json& request) {
  if (op == "create") return Create(request);
  if (op != "ask" && op != "tell" && op != "load") {
    return InvalidArgument("op: must be create, ask, tell, load or close, got '{}'", op);
  }
  if (!optimizer_) return FailedPrecondition("op: '{}' before create", op);
  if (op == "ask") return Ask(request);
  return op == "tell" ? Tell(request) : Load(request);
}

absl::StatusOr<Json> AskTellSession::Create(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const Json* parameters, Required(request, "space"));
  VERNIER_ASSIGN_OR_RETURN(SpaceCodec codec, SpaceCodec::Parse(*parameters));
  VERNIER_ASSIGN_OR_RETURN(const std::uint64_t seed, Natural(request, "seed"));
  VERNIER_ASSIGN_OR_RETURN(const Goal goal, ParseGoal(request));
  VERNIER_ASSIGN_OR_RETURN(std::string algorithm, ParseAlgorithm(request));
  Problem problem = {.space = codec.space(), .objectives = {{.metric = "value", .goal = goal}}};
  VERNIER_ASSIGN_OR_RETURN(
      AskTell optimizer,
      AskTell::Create(std::move(problem), {.name = std::move(algorithm), .options = {}}, seed));
  codec_ = std::move(codec);
  optimizer_ = std::move(optimizer);
  waiting_.clear();
  Json answer = Ok();
  answer["version"] = kVersion;
  return answer;
}

absl::StatusOr<Json> AskTellSession::Ask(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const std::uint64_t count, Natural(request, "n"));
  if (count < 1 || count > kMostAtOnce) {
    return InvalidArgument("n: must be from 1 to {}, got {}", kMostAtOnce, count);
  }
  if (waiting_.size() < count) {
    VERNIER_ASSIGN_OR_RETURN(std::vector<AskTell::Asked> asked,
                             optimizer_->Ask(count - waiting_.size()));
    std::move(asked.begin(), asked.end(), std::back_inserter(waiting_));
  }
  if (waiting_.size() < count) {
    return OutOfRange("n: the space has only {} points left, asked for {}", waiting_.size(), count);
  }
  Json trials = Json::array();
  for (const AskTell::Asked& trial : waiting_) {
    trials.push_back(
        {{"id", trial.trial.value()}, {"params", codec_->Encode(trial.suggestion.point)}});
  }
  waiting_.clear();
  return Json({{"trials", std::move(trials)}});
}

absl::StatusOr<Json> AskTellSession::Tell(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const Json* id, Required(request, "id"));
  if (!id->is_number_integer()) {
    return InvalidArgument("id: must be the number of a trial, got {}", id->dump());
  }
  const TrialNumber trial(id->get<std::int64_t>());
  const auto status = request.find("status");
  if (status != request.end() && *status == "failed") {
    VERNIER_RETURN_IF_ERROR(optimizer_->TellFailed(trial));
    return Ok();
  }
  VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(request, "value"));
  VERNIER_ASSIGN_OR_RETURN(const double number, ParseValue(*value));
  VERNIER_RETURN_IF_ERROR(optimizer_->Tell(trial, {number}));
  return Ok();
}

absl::StatusOr<Json> AskTellSession::Load(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const Json* trials, Required(request, "trials"));
  if (!trials->is_array()) return InvalidArgument("trials: must be a list");
  // All are read before the first is added: a bad one leaves nothing behind.
  std::vector<std::pair<Point, double>> loaded;
  for (std::size_t i = 0; i < trials->size(); ++i) {
    const Json& trial = (*trials)[i];
    if (!trial.is_object()) return InvalidArgument("trials[{}]: must be an object", i);
    VERNIER_ASSIGN_OR_RETURN(const Json* params, Required(trial, "params"));
    VERNIER_ASSIGN_OR_RETURN(const Json* value, Required(trial, "value"));
    VERNIER_ASSIGN_OR_RETURN(Point point, codec_->Decode(*params));
    VERNIER_ASSIGN_OR_RETURN(const double number, ParseValue(*value));
    loaded.emplace_back(std::move(point), number);
  }
  for (const auto& [point, value] : loaded) {
    VERNIER_RETURN_IF_ERROR(optimizer_->Add(point, {value}));
  }
  return Ok();
}

}  // namespace vernier::cli
