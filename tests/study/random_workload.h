#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/clock.h"
#include "vernier/core/rng.h"
#include "vernier/studies.h"

namespace vernier::study {

// Seeded random calls of every kind on one study that clients drive. What a call answers does not matter here: many are
// meant to be refused.
class RandomWorkload {
 public:
  RandomWorkload(Studies& studies, ManualClock& clock, StudyId id, std::uint64_t seed)
      : studies_(studies), clock_(clock), id_(id), rng_(seed) {}

  // One call; returns its status.
  absl::Status Step() {
    clock_.Advance(absl::Milliseconds(static_cast<std::int64_t>(rng_.UniformInt(400))));
    const std::uint64_t dice = rng_.UniformInt(100);
    if (dice < 30) return Suggest();
    if (dice < 50) return Report();
    if (dice < 70) return Complete();
    if (dice < 74) return Fail();
    if (dice < 78) return Heartbeat();
    if (dice < 82) return studies_.Tick().status();
    if (dice < 85) return AddTrial();
    if (dice < 87) return MarkInfeasible();
    if (dice < 89) return StopTrial();
    if (dice < 90) return DeleteTrial();
    if (dice < 91) return SetMetadata();
    if (dice < 92) return studies_.Pause(id_, caller()).status();
    if (dice < 97) return studies_.Resume(id_, caller()).status();
    return Amend();
  }

 private:
  Caller caller() {
    // One in four repeats an earlier id, of whatever call that was.
    const bool repeats = !ids_.empty() && rng_.UniformInt(4) == 0;
    if (!repeats) ids_.push_back("r" + std::to_string(ids_.size()));
    return {.actor = "workload",
            .request_id = repeats ? ids_[rng_.UniformInt(ids_.size())] : ids_.back()};
  }
  std::string Holder() { return "w" + std::to_string(rng_.UniformInt(6)); }
  // A trial that was handed out, not always the latest, with the lease of that time.
  const Trial* Pick() {
    if (held_.empty()) return nullptr;
    const std::size_t back = rng_.UniformInt(std::min<std::size_t>(held_.size(), 8));
    return &held_[held_.size() - 1 - back];
  }
  static LeaseToken Token(const Trial& trial) {
    return {.holder = trial.lease->holder, .token = trial.lease->token};
  }
  TrialId Of(const Trial& trial) const { return {id_, trial.number}; }

  // Now and then without the latency, which some studies want and others do not.
  std::map<std::string, double> Metrics() {
    std::map<std::string, double> metrics = {{"accuracy", rng_.Uniform()}};
    if (rng_.UniformInt(8) != 0) metrics["latency_ms"] = 40 * rng_.Uniform();
    return metrics;
  }

  absl::Status Suggest() {
    auto trials = studies_.Suggest(id_, 1 + rng_.UniformInt(3), Holder(), caller(), {});
    if (!trials.ok()) return trials.status();
    for (Trial& trial : *trials) {
      if (trial.lease.has_value()) held_.push_back(std::move(trial));
    }
    return absl::OkStatus();
  }
  absl::Status Report() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    std::vector<Measurement> measurements;
    for (std::uint64_t i = 0; i <= rng_.UniformInt(3); ++i) {
      measurements.push_back({.step = static_cast<std::int64_t>(rng_.UniformInt(20)),
                              .time = clock_.Now(),
                              .metrics = Metrics(),
                              .source = "client"});
    }
    return studies_.Report(Of(*trial), measurements, Token(*trial), caller()).status();
  }
  absl::Status Complete() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    std::map<std::string, double> metrics;
    if (rng_.UniformInt(3) != 0) metrics = Metrics();
    return studies_.Complete(Of(*trial), {.metrics = metrics}, Token(*trial), caller()).status();
  }
  absl::Status Fail() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    return studies_.Fail(Of(*trial), FailureClass::kUserError, "broke", Token(*trial), caller())
        .status();
  }
  absl::Status MarkInfeasible() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    return studies_.MarkInfeasible(Of(*trial), "no", Measurement(), Token(*trial), caller())
        .status();
  }
  absl::Status StopTrial() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    return studies_.StopTrial(Of(*trial), "unwanted", caller()).status();
  }
  absl::Status Heartbeat() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    return studies_.Heartbeat(Of(*trial), Token(*trial)).status();
  }
  absl::Status AddTrial() {
    const Point point = {{"x", rng_.Uniform()}};
    TrialAddition addition{.point = point};
    if (rng_.UniformInt(4) == 0) addition.measurements = {{.step = 1, .metrics = Metrics()}};
    if (rng_.UniformInt(2) == 0) addition.last = Measurement{.metrics = Metrics()};
    if (rng_.UniformInt(4) == 0) addition.infeasible = "known to fail";
    if (rng_.UniformInt(4) == 0) addition.metadata[{"me", "why"}] = {.content = "a guess"};
    return studies_.AddTrial(id_, addition, caller()).status();
  }
  absl::Status DeleteTrial() {
    const Trial* trial = Pick();
    if (trial == nullptr) return absl::OkStatus();
    return studies_.DeleteTrial(Of(*trial), caller());
  }
  absl::Status SetMetadata() {
    MetadataUpdate update{.study = {{{"", "n"}, {.content = std::to_string(rng_.UniformInt(9))}}}};
    const Trial* trial = Pick();
    if (trial != nullptr) update.trials[trial->number][{"a", "b"}] = {"url", "\xFF"};
    return studies_.SetMetadata(id_, update, caller());
  }
  absl::Status Amend() {
    Amendment change{.parallel = static_cast<std::int32_t>(2 + rng_.UniformInt(6))};
    const std::uint64_t dice = rng_.UniformInt(4);
    if (dice == 0)
      change.stopping = Choice{.name = rng_.UniformInt(2) == 0 ? "median" : "none", .options = {}};
    if (dice == 1) change.fixed = true;
    if (dice == 2) {
      const auto definition = studies_.GetDefinition(id_);
      if (!definition.ok()) return definition.status();
      change.definition = **definition;
      change.keep_amended = rng_.UniformInt(2) == 0;
    }
    return studies_.Amend(id_, change, caller()).status();
  }

  Studies& studies_;
  ManualClock& clock_;
  const StudyId id_;
  Rng rng_;
  std::vector<std::string> ids_;
  std::vector<Trial> held_;
};

}  // namespace vernier::study
