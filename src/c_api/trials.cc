#include <cstddef>
#include <cstdint>
#include <variant>

#include "nlohmann/json.hpp"
#include "src/c_api/handles.h"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"

namespace vernier::c_api {
namespace {

std::string MetricsText(const Trial& trial) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::object();
  for (const auto& [name, value] : trial.final_metrics) metrics[name] = value;
  return codec::ToText(metrics);
}

// NotFound: there is none of that name.
absl::StatusOr<const ParameterValue*> Find(const vn_trials* trials,
                                           std::size_t index,
                                           const char* parameter) {
  VERNIER_RETURN_IF_ERROR(CheckGiven(trials, "trials"));
  VERNIER_RETURN_IF_ERROR(CheckGiven(parameter, "parameter"));
  if (index >= trials->trials.size()) {
    return NotFound("there is no trial at index {} of {}", index, trials->trials.size());
  }
  const Trial& trial = trials->trials[index];
  const auto found = trial.point.find(parameter);
  if (found != trial.point.end()) return &found->second;
  return NotFound("trial {} has no parameter '{}'", trial.number.value(), parameter);
}

absl::Status IsAnother(const char* parameter, const char* wanted) {
  return FieldError(parameter, std::string("is no ") + wanted);
}

}  // namespace

vn_code Tell(const absl::Status& status, vn_error** error) {
  const auto code = static_cast<vn_code>(status.raw_code());
  if (error == nullptr) return code;
  *error = nullptr;
  if (status.ok()) return code;
  *error = new vn_error{.code = code,
                        .message = std::string(status.message()),
                        .field = GetField(status).value_or(""),
                        .reason = GetReason(status) == Reason::kNone
                                      ? ""
                                      : std::string(ReasonName(GetReason(status)))};
  return code;
}

std::unique_ptr<vn_trials> NewTrials(std::string study, std::vector<Trial> trials) {
  auto list = std::make_unique<vn_trials>();
  list->study = std::move(study);
  list->trials = std::move(trials);
  for (const Trial& trial : list->trials) {
    list->texts.push_back({.parameters = codec::ToText(codec::PointToJson(trial.point)),
                           .metrics = MetricsText(trial)});
  }
  return list;
}

}  // namespace vernier::c_api

using vernier::c_api::CheckGiven;
using vernier::c_api::Find;
using vernier::c_api::IsAnother;
using vernier::c_api::Run;

const char* vn_version(void) { return VERNIER_VERSION; }

vn_code vn_error_code(const vn_error* error) { return error == nullptr ? VN_OK : error->code; }
const char* vn_error_message(const vn_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}
const char* vn_error_field(const vn_error* error) {
  return error == nullptr ? "" : error->field.c_str();
}
const char* vn_error_reason(const vn_error* error) {
  return error == nullptr ? "" : error->reason.c_str();
}
void vn_error_free(vn_error* error) { delete error; }

size_t vn_trials_count(const vn_trials* trials) {
  return trials == nullptr ? 0 : trials->trials.size();
}
int64_t vn_trials_number(const vn_trials* trials, size_t index) {
  return index < vn_trials_count(trials) ? trials->trials[index].number.value() : 0;
}
const char* vn_trials_state(const vn_trials* trials, size_t index) {
  if (index >= vn_trials_count(trials)) return "";
  return vernier::TrialStateName(trials->trials[index].state).data();  // A literal.
}
const char* vn_trials_parameters(const vn_trials* trials, size_t index) {
  return index < vn_trials_count(trials) ? trials->texts[index].parameters.c_str() : "{}";
}
const char* vn_trials_metrics(const vn_trials* trials, size_t index) {
  return index < vn_trials_count(trials) ? trials->texts[index].metrics.c_str() : "{}";
}

vn_code vn_trials_double(
    const vn_trials* trials, size_t index, const char* parameter, double* value, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(value, "value"));
    VERNIER_ASSIGN_OR_RETURN(const auto* const found, Find(trials, index, parameter));
    if (const auto* const whole = std::get_if<std::int64_t>(found)) {
      *value = static_cast<double>(*whole);
    } else if (const auto* const number = std::get_if<double>(found)) {
      *value = *number;
    } else {
      return IsAnother(parameter, "number");
    }
    return absl::OkStatus();
  });
}

vn_code vn_trials_int(const vn_trials* trials,
                      size_t index,
                      const char* parameter,
                      int64_t* value,
                      vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(value, "value"));
    VERNIER_ASSIGN_OR_RETURN(const auto* const found, Find(trials, index, parameter));
    const auto* const whole = std::get_if<std::int64_t>(found);
    if (whole == nullptr) return IsAnother(parameter, "whole number");
    *value = *whole;
    return absl::OkStatus();
  });
}

vn_code vn_trials_bool(
    const vn_trials* trials, size_t index, const char* parameter, int* value, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(value, "value"));
    VERNIER_ASSIGN_OR_RETURN(const auto* const found, Find(trials, index, parameter));
    const bool* const truth = std::get_if<bool>(found);
    if (truth == nullptr) return IsAnother(parameter, "boolean");
    *value = *truth ? 1 : 0;
    return absl::OkStatus();
  });
}

vn_code vn_trials_string(const vn_trials* trials,
                         size_t index,
                         const char* parameter,
                         const char** value,
                         vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(value, "value"));
    VERNIER_ASSIGN_OR_RETURN(const auto* const found, Find(trials, index, parameter));
    const auto* const text = std::get_if<std::string>(found);
    if (text == nullptr) return IsAnother(parameter, "text");
    *value = text->c_str();
    return absl::OkStatus();
  });
}

void vn_trials_free(vn_trials* trials) { delete trials; }
