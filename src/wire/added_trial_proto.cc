#include "src/wire/added_trial_proto.h"

#include <utility>

#include "fmt/format.h"
#include "src/core/limit_checks.h"
#include "src/wire/enum_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/trial_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

void EncodeResult(const Measurement& result, v1::AddedTrial::Result* out) {
  EncodeMetrics(result.metrics, out->mutable_metrics());
  out->set_step(result.step);
  EncodeDuration(result.elapsed, out->mutable_elapsed());
}

// The number is checked before the metrics are decoded, so that a hostile message costs little more than itself.
absl::StatusOr<Measurement> DecodeResult(const std::string& path,
                                         const v1::AddedTrial::Result& proto) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost(
      path + ".metrics", static_cast<std::size_t>(proto.metrics().size()), limits::kMetrics));
  return Measurement{.step = proto.step(),
                     .elapsed = DecodeDuration(proto.elapsed()),
                     .metrics = DecodeMetrics(proto.metrics())};
}

absl::StatusOr<TrialFailure> DecodeFailure(const std::string& path,
                                           const v1::AddedTrial::Failure& proto) {
  TrialFailure failure{.message = proto.message()};
  if (proto.failure() == v1::FAILURE_CLASS_UNSPECIFIED) return failure;
  const auto decoded = Decode(proto.failure());
  if (!decoded.has_value()) {
    return FieldError(path + ".failure",
                      fmt::format("unknown class {}", static_cast<int>(proto.failure())));
  }
  failure.failure = *decoded;
  return failure;
}

absl::Status DecodeEnd(const std::string& path, const v1::AddedTrial& proto, TrialAddition& out) {
  switch (proto.end_case()) {
    case v1::AddedTrial::kCompleted: {
      VERNIER_ASSIGN_OR_RETURN(out.last, DecodeResult(path + ".completed", proto.completed()));
      return absl::OkStatus();
    }
    case v1::AddedTrial::kStopped: {
      out.stopped = proto.stopped().reason();
      if (!proto.stopped().has_result()) return absl::OkStatus();
      VERNIER_ASSIGN_OR_RETURN(out.last,
                               DecodeResult(path + ".stopped.result", proto.stopped().result()));
      return absl::OkStatus();
    }
    case v1::AddedTrial::kFailed: {
      VERNIER_ASSIGN_OR_RETURN(out.failed, DecodeFailure(path + ".failed", proto.failed()));
      return absl::OkStatus();
    }
    case v1::AddedTrial::kInfeasible:
      out.infeasible = proto.infeasible();
      return absl::OkStatus();
    case v1::AddedTrial::END_NOT_SET:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

void EncodeAddedTrial(const TrialAddition& addition, v1::AddedTrial* out) {
  EncodePoint(addition.point, out->mutable_parameters());
  for (const Measurement& measurement : addition.measurements) {
    EncodeMeasurement(measurement, out->add_measurements());
  }
  if (addition.failed.has_value()) {
    out->mutable_failed()->set_failure(Encode(addition.failed->failure));
    out->mutable_failed()->set_message(ValidUtf8(addition.failed->message));
  } else if (addition.infeasible.has_value()) {
    out->set_infeasible(ValidUtf8(*addition.infeasible));
  } else if (addition.stopped.has_value()) {
    out->mutable_stopped()->set_reason(ValidUtf8(*addition.stopped));
    if (addition.last.has_value()) {
      EncodeResult(*addition.last, out->mutable_stopped()->mutable_result());
    }
  } else if (addition.last.has_value()) {
    EncodeResult(*addition.last, out->mutable_completed());
  }
  for (const auto& [key, value] : addition.metadata) {
    if (!value.type.empty()) continue;
    v1::AddedTrial::Metadatum& datum = *out->add_metadata();
    datum.set_space(ValidUtf8(key.space));
    datum.set_name(ValidUtf8(key.name));
    datum.set_content(ValidUtf8(value.content));
  }
}

absl::StatusOr<TrialAddition> DecodeAddedTrial(const std::string& path,
                                               const v1::AddedTrial& proto) {
  TrialAddition addition;
  VERNIER_ASSIGN_OR_RETURN(addition.point, DecodePoint(path + ".parameters", proto.parameters()));
  for (const v1::Measurement& measurement : proto.measurements()) {
    VERNIER_RETURN_IF_ERROR(
        CheckAtMost(fmt::format("{}.measurements[{}].metrics", path, addition.measurements.size()),
                    static_cast<std::size_t>(measurement.metrics().size()),
                    limits::kMetrics));
    addition.measurements.push_back(DecodeMeasurement(measurement));
    // Whatever the message says: the server saw no program report it.
    addition.measurements.back().source = "client";
  }
  VERNIER_RETURN_IF_ERROR(DecodeEnd(path, proto, addition));
  for (const v1::AddedTrial::Metadatum& datum : proto.metadata()) {
    addition.metadata[{.space = datum.space(), .name = datum.name()}] = {
        .type = "", .content = datum.content()};
  }
  return addition;
}

}  // namespace vernier::wire
