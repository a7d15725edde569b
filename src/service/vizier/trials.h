#pragma once

#include <map>
#include <memory>
#include <string>
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

// Optimal trials of a study with one objective, in their order: all that are as good as the best. Without objectives: all
// that completed. Trials that break an outcome constraint do not count.  InvalidArgument: a constraint cannot be read.
absl::StatusOr<std::vector<TrialNumber>> TiedWithBest(const Study& study,
                                                      const std::vector<Trial>& trials);

// The trials of one study. Made once for many calls, as it reads the study's definition. Immutable.
class TrialCodec {
 public:
  explicit TrialCodec(std::shared_ptr<const StudySpec> spec);  // Shared with the study.

  const StudySpec& spec() const { return *spec_; }
  const StudyName& study() const { return name_; }
  // Whether a Vizier client made the study. Then trials are stored as clients send them: points may lack values, and
  // results may lack objectives.
  bool is_own() const { return spec_->foreign.has_value() && spec_->foreign->service == kVizier; }

  // What a client adds. Its number, its client and its start are not looked at; unless it has succeeded or is infeasible it
  // is one that was requested.  InvalidArgument: a FieldError, paths in the request.
  absl::StatusOr<TrialAddition> Decode(const ::vizier::Trial& trial) const;

  // A trial as a client sees it. What failed or was cancelled is infeasible, with the reason. Of a curve that is too long for
  // a message, measurements are left out evenly.
  void Encode(const Trial& trial,
              const std::vector<Measurement>& measurements,
              ::vizier::Trial* out) const;

 private:
  // What the definition calls the parameter.
  const std::string& IdOf(const Parameter& parameter) const;
  const Parameter* FindParameter(const std::string& id, const Point& point) const;
  absl::StatusOr<Point> DecodePoint(const ::vizier::Trial& trial) const;

  const std::shared_ptr<const StudySpec> spec_;
  const StudyName name_;
  // Of parameters that are called otherwise in the definition.
  const std::map<std::string, std::string> ids_;
};

}  // namespace vernier::vizier
