#include "src/wire/enum_proto.h"

#include <utility>

#include "src/core/check.h"

namespace vernier::wire {
namespace {

// One table for each enumeration serves both directions, so that they cannot disagree. Its order means nothing.
template <typename Core, typename Proto>
using Pair = std::pair<Core, Proto>;

constexpr Pair<Scale, v1::Scale> kScales[] = {
    {Scale::kLinear, v1::LINEAR},
    {Scale::kLog, v1::LOG},
    {Scale::kReverseLog, v1::REVERSE_LOG},
};

constexpr Pair<Goal, v1::Goal> kGoals[] = {
    {Goal::kMaximize, v1::MAXIMIZE},
    {Goal::kMinimize, v1::MINIMIZE},
};

// Enumerations inside of a message have a scope of their own.
constexpr Pair<FinalValue, v1::Objective::Final> kFinals[] = {
    {FinalValue::kLast, v1::Objective::LAST},
    {FinalValue::kBest, v1::Objective::BEST},
    {FinalValue::kMeanOfLast, v1::Objective::MEAN_OF_LAST},
};

constexpr Pair<ArgumentStyle, v1::ParameterArgument::Style> kArgumentStyles[] = {
    {ArgumentStyle::kOption, v1::ParameterArgument::OPTION},
    {ArgumentStyle::kSeparate, v1::ParameterArgument::SEPARATE},
    {ArgumentStyle::kFlag, v1::ParameterArgument::FLAG},
    {ArgumentStyle::kAbsentFlag, v1::ParameterArgument::ABSENT_FLAG},
    {ArgumentStyle::kPositional, v1::ParameterArgument::POSITIONAL},
    {ArgumentStyle::kAssignment, v1::ParameterArgument::ASSIGNMENT},
    {ArgumentStyle::kVariable, v1::ParameterArgument::VARIABLE},
    {ArgumentStyle::kFile, v1::ParameterArgument::FILE},
};

constexpr Pair<LeaseExpiry, v1::LeasePolicy::Expiry> kExpiries[] = {
    {LeaseExpiry::kOfferAgain, v1::LeasePolicy::OFFER},
    {LeaseExpiry::kFail, v1::LeasePolicy::FAIL},
};

// In protobuf, all enumerators of a package share one scope, so that states of studies have a prefix.
constexpr Pair<StudyState, v1::StudyState> kStudyStates[] = {
    {StudyState::kActive, v1::STUDY_ACTIVE},
    {StudyState::kPaused, v1::STUDY_PAUSED},
    {StudyState::kStopping, v1::STUDY_STOPPING},
    {StudyState::kCompleted, v1::STUDY_COMPLETED},
    {StudyState::kCancelled, v1::STUDY_CANCELLED},
    {StudyState::kFailed, v1::STUDY_FAILED},
};

constexpr Pair<TrialState, v1::TrialState> kTrialStates[] = {
    {TrialState::kRequested, v1::REQUESTED},
    {TrialState::kQueued, v1::QUEUED},
    {TrialState::kPreparing, v1::PREPARING},
    {TrialState::kRunning, v1::RUNNING},
    {TrialState::kPaused, v1::PAUSED},
    {TrialState::kStopping, v1::STOPPING},
    {TrialState::kCompleted, v1::COMPLETED},
    {TrialState::kFailed, v1::FAILED},
    {TrialState::kInfeasible, v1::INFEASIBLE},
    {TrialState::kCancelled, v1::CANCELLED},
};

constexpr Pair<AttemptState, v1::AttemptState> kAttemptStates[] = {
    {AttemptState::kPlaced, v1::ATTEMPT_PLACED},
    {AttemptState::kStarting, v1::ATTEMPT_STARTING},
    {AttemptState::kRunning, v1::ATTEMPT_RUNNING},
    {AttemptState::kSucceeded, v1::ATTEMPT_SUCCEEDED},
    {AttemptState::kFailed, v1::ATTEMPT_FAILED},
    {AttemptState::kStopped, v1::ATTEMPT_STOPPED},
    {AttemptState::kLost, v1::ATTEMPT_LOST},
};

// Here the unspecified value has a meaning of its own: a trial that has not failed has no class.
constexpr Pair<FailureClass, v1::FailureClass> kFailures[] = {
    {FailureClass::kNone, v1::FAILURE_CLASS_UNSPECIFIED},
    {FailureClass::kUserError, v1::USER_ERROR},
    {FailureClass::kOutOfMemory, v1::OUT_OF_MEMORY},
    {FailureClass::kPreempted, v1::PREEMPTED},
    {FailureClass::kNodeLost, v1::NODE_LOST},
    {FailureClass::kTimeout, v1::TIMEOUT},
    {FailureClass::kNoMetric, v1::NO_METRIC},
    {FailureClass::kInfeasible, v1::INFEASIBLE_POINT},
    {FailureClass::kInternal, v1::INTERNAL},
    {FailureClass::kLost, v1::LOST},
    {FailureClass::kDiverged, v1::DIVERGED},
};

constexpr Pair<Severity, v1::LogLine::Severity> kSeverities[] = {
    {Severity::kDebug, v1::LogLine::DEBUG},
    {Severity::kInfo, v1::LogLine::INFO},
    {Severity::kNotice, v1::LogLine::NOTICE},
    {Severity::kWarning, v1::LogLine::WARNING},
    {Severity::kError, v1::LogLine::ERROR},
    {Severity::kCritical, v1::LogLine::CRITICAL},
    {Severity::kAlert, v1::LogLine::ALERT},
    {Severity::kEmergency, v1::LogLine::EMERGENCY},
};

// REQUIRES: the table has the enumerator. A value of ours that has no form on the wire is a mistake in these tables.
template <typename Table, typename Core>
auto ToProto(const Table& table, Core value) {
  for (const auto& [core, proto] : table) {
    if (core == value) return proto;
  }
  VERNIER_CHECK(false, "an enumerator has no form on the wire");
  return table[0].second;
}

// A value that is not in the table may come from a newer version, and is no mistake.
template <typename Core, typename Table, typename Proto>
std::optional<Core> FromProto(const Table& table, Proto value) {
  for (const auto& [core, proto] : table) {
    if (proto == value) return core;
  }
  return std::nullopt;
}

}  // namespace

v1::Scale Encode(Scale scale) { return ToProto(kScales, scale); }
std::optional<Scale> Decode(v1::Scale scale) { return FromProto<Scale>(kScales, scale); }

v1::Goal Encode(Goal goal) { return ToProto(kGoals, goal); }
std::optional<Goal> Decode(v1::Goal goal) { return FromProto<Goal>(kGoals, goal); }

v1::Objective::Final Encode(FinalValue final) { return ToProto(kFinals, final); }
std::optional<FinalValue> Decode(v1::Objective::Final final) {
  return FromProto<FinalValue>(kFinals, final);
}

v1::ParameterArgument::Style Encode(ArgumentStyle style) { return ToProto(kArgumentStyles, style); }
std::optional<ArgumentStyle> Decode(v1::ParameterArgument::Style style) {
  return FromProto<ArgumentStyle>(kArgumentStyles, style);
}

v1::LeasePolicy::Expiry Encode(LeaseExpiry expiry) { return ToProto(kExpiries, expiry); }
std::optional<LeaseExpiry> Decode(v1::LeasePolicy::Expiry expiry) {
  return FromProto<LeaseExpiry>(kExpiries, expiry);
}

v1::StudyState Encode(StudyState state) { return ToProto(kStudyStates, state); }
std::optional<StudyState> Decode(v1::StudyState state) {
  return FromProto<StudyState>(kStudyStates, state);
}

v1::TrialState Encode(TrialState state) { return ToProto(kTrialStates, state); }
std::optional<TrialState> Decode(v1::TrialState state) {
  return FromProto<TrialState>(kTrialStates, state);
}

v1::AttemptState Encode(AttemptState state) { return ToProto(kAttemptStates, state); }
std::optional<AttemptState> Decode(v1::AttemptState state) {
  return FromProto<AttemptState>(kAttemptStates, state);
}

v1::FailureClass Encode(FailureClass failure) { return ToProto(kFailures, failure); }
std::optional<FailureClass> Decode(v1::FailureClass failure) {
  return FromProto<FailureClass>(kFailures, failure);
}

v1::LogLine::Severity Encode(Severity severity) { return ToProto(kSeverities, severity); }
std::optional<Severity> Decode(v1::LogLine::Severity severity) {
  return FromProto<Severity>(kSeverities, severity);
}

}  // namespace vernier::wire
