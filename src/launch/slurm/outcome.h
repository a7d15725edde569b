#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/launch/slurm/slurm.h"
#include "vernier/core/trial.h"

// What Slurm's states and reasons mean for an attempt. docs/guides/slurm.md has these tables.
namespace vernier::launch::slurm {

struct Outcome {
  FailureClass failure = FailureClass::kInternal;
  bool transient = false;  // Another attempt may do better.
  std::string message;     // One sentence.
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Why a job is over whose replicas left no record of their end. `components`: of one job; empty: the controller has
// forgotten it.
Outcome ExplainEnd(std::span<const JobRecord> components);

// Why a job that waits can never run, one sentence; nothing: it may.
std::optional<std::string> WhyNever(const JobRecord& job);

// Why a job waits, one sentence without the period, from Slurm's word for it: "Resources".
std::string ExplainWait(std::string_view reason);

}  // namespace vernier::launch::slurm
