#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/service/vizier/names.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/studies.h"
#include "vizier/study.pb.h"

// Trials between Vizier's words and Vernier's.
namespace vernier::vizier {

Measurement DecodeMeasurement(const ::vizier::Measurement& measurement);

// What a client adds. Its number, its client and its start are not looked at; unless it has succeeded or is infeasible it is
// one that was requested.  InvalidArgument: a FieldError, paths in the request.
absl::StatusOr<TrialAddition> DecodeAddition(const StudySpec& spec, const ::vizier::Trial& trial);

// A trial of this study as a client sees it. What failed or was cancelled is infeasible, with the reason.
class TrialEncoder {
 public:
  explicit TrialEncoder(const StudySpec& spec);
  void Encode(const Trial& trial,
              const std::vector<Measurement>& measurements,
              ::vizier::Trial* out) const;

 private:
  const StudySpec& spec_;
  const StudyName name_;
  std::map<std::string, std::string>
      ids_;  // Of parameters that are called otherwise in the definition.
};

}  // namespace vernier::vizier
