#pragma once

#include <optional>

#include "vernier/core/error.h"
#include "vernier/core/severity.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/v1/study.pb.h"
#include "vernier/v1/study_service.pb.h"
#include "vernier/v1/trial.pb.h"

// Enumerations, each way. Decode gives nullopt for the unspecified value and for values of a newer version.
namespace vernier::wire {

v1::Scale Encode(Scale scale);
std::optional<Scale> Decode(v1::Scale scale);
v1::Goal Encode(Goal goal);
std::optional<Goal> Decode(v1::Goal goal);
v1::Objective::Final Encode(FinalValue final);
std::optional<FinalValue> Decode(v1::Objective::Final final);
v1::ParameterArgument::Style Encode(ArgumentStyle style);
std::optional<ArgumentStyle> Decode(v1::ParameterArgument::Style style);
v1::LeasePolicy::Expiry Encode(LeaseExpiry expiry);
std::optional<LeaseExpiry> Decode(v1::LeasePolicy::Expiry expiry);
v1::StudyState Encode(StudyState state);
std::optional<StudyState> Decode(v1::StudyState state);
v1::TrialState Encode(TrialState state);
std::optional<TrialState> Decode(v1::TrialState state);
v1::AttemptState Encode(AttemptState state);
std::optional<AttemptState> Decode(v1::AttemptState state);
v1::FailureClass Encode(FailureClass failure);  // kNone is the unspecified value.
std::optional<FailureClass> Decode(v1::FailureClass failure);
v1::LogLine::Severity Encode(Severity severity);
std::optional<Severity> Decode(v1::LogLine::Severity severity);

}  // namespace vernier::wire
