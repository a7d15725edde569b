#include "src/codec/event_json.h"
#include "src/codec/form.h"
#include "src/codec/trial_form.h"

// Values, trials and studies on their own.
namespace vernier::codec {

void Describe(auto& visit, Is<ResourceUsage> auto& used) {
  visit.IfSet("cpu_time_ns", used.cpu_time);
  visit.IfSet("gpu_time_ns", used.gpu_time);
  visit.IfSet("peak_memory_bytes", used.peak_memory_bytes);
}
template <>
struct Form<ResourceUsage> : DescribedForm<ResourceUsage> {};

void Describe(auto& visit, Is<Study> auto& study) {
  visit("id", study.id);
  visit("spec", study.spec);
  visit("state", study.state);
  visit("reason", study.reason);
  visit("created", study.created);
  visit("updated", study.updated);
  visit("last_event", study.last_event);
  visit("spec_version", study.spec_version);
  visit("trials", study.trials);
  visit("completed", study.completed);
  visit("failed", study.failed);
  visit("open", study.open);
  visit("best", study.best);
  visit("optimal", study.optimal);
  visit.IfSet("used", study.used);
  visit("metadata", study.metadata);
}
template <>
struct Form<Study> : DescribedForm<Study> {};

namespace {

template <typename T>
absl::StatusOr<T> ReadAs(std::string_view what, const Json& json) {
  T value{};
  const absl::Status status = Form<T>::Read(json, value);
  if (!status.ok()) return Within(what, status);
  return value;
}

}  // namespace

nlohmann::ordered_json ValueToJson(const ParameterValue& value) {
  return Form<ParameterValue>::Write(value);
}
absl::StatusOr<ParameterValue> ValueFromJson(const nlohmann::ordered_json& value) {
  return ReadAs<ParameterValue>("value", value);
}

nlohmann::ordered_json PointToJson(const Point& point) { return Form<Point>::Write(point); }
absl::StatusOr<Point> PointFromJson(const nlohmann::ordered_json& point) {
  return ReadAs<Point>("point", point);
}

nlohmann::ordered_json NumberToJson(double number) { return Form<double>::Write(number); }
absl::StatusOr<double> NumberFromJson(const nlohmann::ordered_json& number) {
  return ReadAs<double>("number", number);
}

nlohmann::ordered_json TrialToJson(const Trial& trial) { return Form<Trial>::Write(trial); }
absl::StatusOr<Trial> TrialFromJson(const nlohmann::ordered_json& trial) {
  return ReadAs<Trial>("trial", trial);
}

nlohmann::ordered_json StudyToJson(const Study& study) { return Form<Study>::Write(study); }
absl::StatusOr<Study> StudyFromJson(const nlohmann::ordered_json& study) {
  return ReadAs<Study>("study", study);
}

}  // namespace vernier::codec
