#include "tests/codec/random_event.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "src/core/check.h"

namespace vernier::testing {
namespace {

std::int64_t RandomInt64(Rng& rng) {
  constexpr std::array kCorners = {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::int64_t{0},
                                   std::int64_t{-1}};
  if (rng.UniformInt(3) == 0) return kCorners[rng.UniformInt(kCorners.size())];
  return static_cast<std::int64_t>(rng.NextU64());
}

std::int32_t RandomInt32(Rng& rng) { return static_cast<std::int32_t>(rng.NextU64()); }

std::string RandomText(Rng& rng) {
  constexpr std::array<std::string_view, 8> kPieces = {
      "a", "lr", "\"", "\\", "\n", "Grüße", "\xF0\x9F\x8E\xB2", "nan"};
  std::string text;
  for (std::uint64_t left = rng.UniformInt(4); left > 0; --left) {
    text += kPieces[rng.UniformInt(kPieces.size())];
  }
  return text;
}

absl::Time RandomTime(Rng& rng) {
  const auto seconds = static_cast<std::int64_t>(rng.UniformInt(4'000'000'000));
  return absl::FromUnixSeconds(seconds) +
         absl::Nanoseconds(static_cast<std::int64_t>(rng.UniformInt(1'000'000'000)));
}

absl::Duration RandomDuration(Rng& rng) {
  return absl::Nanoseconds(static_cast<std::int64_t>(rng.NextU64() >> 2));
}

template <typename Tag>
Id<Tag> RandomId(Rng& rng) {
  return Id<Tag>(static_cast<std::int64_t>(rng.UniformInt(1'000'000)));
}

template <typename E>
E RandomEnum(Rng& rng, E last) {
  return static_cast<E>(rng.UniformInt(static_cast<std::uint64_t>(last) + 1));
}

template <typename F>
auto Maybe(Rng& rng, F make) -> std::optional<decltype(make())> {
  if (rng.UniformInt(2) == 0) return std::nullopt;
  return make();
}

std::map<std::string, double> RandomNumbers(Rng& rng) {
  std::map<std::string, double> numbers;
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    numbers[RandomText(rng)] = RandomNumber(rng);
  }
  return numbers;
}

SuggestionRecord RandomSuggestion(Rng& rng) {
  SuggestionRecord record;
  record.algorithm = RandomText(rng);
  record.version = RandomText(rng);
  record.options = R"({"a":1})";
  record.fingerprint = RandomText(rng);
  record.as_of = RandomId<EventTag>(rng);
  record.state_from = RandomId<EventTag>(rng);
  record.stream = rng.NextU64();
  record.batch_size = RandomInt32(rng);
  record.batch_index = RandomInt32(rng);
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    record.pending.push_back(RandomId<TrialTag>(rng));
  }
  record.origin = RandomText(rng);
  record.acquisition = Maybe(rng, [&] { return RandomNumber(rng); });
  record.predicted_mean = Maybe(rng, [&] { return RandomNumber(rng); });
  record.predicted_deviation = Maybe(rng, [&] { return RandomNumber(rng); });
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    record.predicted_others[RandomText(rng)] = {.mean = RandomNumber(rng),
                                                .deviation = RandomNumber(rng)};
  }
  record.expected_improvement = Maybe(rng, [&] { return RandomNumber(rng); });
  record.importance = RandomNumbers(rng);
  record.note = RandomText(rng);
  return record;
}

Metadata RandomMetadata(Rng& rng) {
  Metadata metadata;
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    const MetadataKey key{.space = RandomText(rng), .name = RandomText(rng)};
    metadata[key] = rng.UniformInt(2) == 0
                        ? MetadataValue{.type = "", .content = RandomText(rng)}
                        : MetadataValue{.type = "a/b", .content = std::string("\x00\xFF\n", 3)};
  }
  return metadata;
}

StopRecord RandomStop(Rng& rng) {
  return {.rule = RandomText(rng),
          .version = RandomText(rng),
          .options = "{}",
          .as_of = RandomId<EventTag>(rng),
          .numbers = RandomNumbers(rng),
          .explanation = RandomText(rng)};
}

Lease RandomLease(Rng& rng) {
  return {.holder = RandomText(rng), .token = RandomInt64(rng), .expires = RandomTime(rng)};
}

Placement RandomPlacement(Rng& rng) {
  Placement placement;
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    placement.push_back({.role = "worker",
                         .index = RandomInt32(rng),
                         .host = RandomText(rng),
                         .port = RandomInt32(rng),
                         .gpus = {RandomText(rng), "1"}});
  }
  return placement;
}

std::vector<ReplicaResult> RandomResults(Rng& rng) {
  std::vector<ReplicaResult> results;
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    results.push_back({.role = "ps",
                       .index = RandomInt32(rng),
                       .exit_code = Maybe(rng, [&] { return RandomInt32(rng); }),
                       .signal = Maybe(rng, [&] { return RandomInt32(rng); }),
                       .restarts = RandomInt32(rng),
                       .cpu_time = RandomDuration(rng),
                       .peak_memory_bytes = RandomInt64(rng)});
  }
  return results;
}

Attempt RandomAttempt(Rng& rng) {
  Attempt attempt;
  attempt.number = RandomId<AttemptTag>(rng);
  attempt.state = RandomEnum(rng, AttemptState::kLost);
  attempt.placement = RandomPlacement(rng);
  attempt.directory = RandomText(rng);
  attempt.defined_by = RandomId<EventTag>(rng);
  attempt.placed = RandomTime(rng);
  attempt.started = Maybe(rng, [&] { return RandomTime(rng); });
  attempt.ended = Maybe(rng, [&] { return RandomTime(rng); });
  attempt.failure = RandomEnum(rng, FailureClass::kDiverged);
  attempt.transient = rng.UniformInt(2) == 0;
  attempt.message = RandomText(rng);
  attempt.replicas = RandomResults(rng);
  return attempt;
}

// Makes payload number `kind` of the variant.
template <std::size_t kIndex = 0>
EventPayload DefaultPayload(std::size_t kind) {
  if constexpr (kIndex + 1 < std::variant_size_v<EventPayload>) {
    if (kind > kIndex) return DefaultPayload<kIndex + 1>(kind);
  }
  return EventPayload(std::in_place_index<kIndex>);
}

class Filler {
 public:
  explicit Filler(Rng& rng) : rng_(rng) {}

  void operator()(StudyCreated& event) {
    event.spec = RandomSpec(rng_, "made-up");
    for (std::uint64_t left = rng_.UniformInt(3); left > 0; --left) {
      event.earlier.push_back({.name = RandomText(rng_),
                               .trials = {{.trial = RandomId<TrialTag>(rng_),
                                           .point = RandomPoint(rng_),
                                           .values = {rng_.Normal(), rng_.Normal()},
                                           .slacks = {rng_.Normal()}}},
                               .tried = {RandomPoint(rng_)},
                               .count = RandomInt64(rng_),
                               .is_projected = rng_.UniformInt(2) == 1});
    }
    event.trials_before = RandomInt64(rng_);
    event.streams_before = RandomInt64(rng_);
    event.optimizer_state = RandomText(rng_);
  }
  void operator()(StudyStateChanged& event) {
    event = {.from = RandomEnum(rng_, StudyState::kFailed),
             .to = RandomEnum(rng_, StudyState::kFailed),
             .reason = RandomText(rng_),
             .ending = Maybe(rng_, [&] { return RandomEnum(rng_, StudyState::kFailed); })};
  }
  void operator()(StudyAmended& event) {
    event.budget.trials = Maybe(rng_, [&] { return RandomInt64(rng_); });
    event.budget.failed_trials = Maybe(rng_, [&] { return RandomInt64(rng_); });
    event.budget.time = Maybe(rng_, [&] { return RandomDuration(rng_); });
    event.budget.gpu_hours = Maybe(rng_, [&] { return rng_.Normal(); });
    event.parallel = RandomInt32(rng_);
    event.labels = Maybe(rng_, [&] {
      std::map<std::string, std::string> labels;
      for (std::uint64_t i = rng_.UniformInt(3); i > 0; --i)
        labels[RandomText(rng_)] = RandomText(rng_);
      return labels;
    });
    event.definition = Maybe(rng_, [&] { return RandomSpec(rng_, "amended"); });
    event.fixed = rng_.UniformInt(2) == 0;
    event.whole = rng_.UniformInt(2) == 0;
    for (std::uint64_t i = rng_.UniformInt(3); i > 0; --i) {
      event.changes.push_back(
          {.field = RandomText(rng_), .from = RandomText(rng_), .to = RandomText(rng_)});
    }
  }
  void operator()(AlgorithmChanged& event) {
    event = {.name = RandomText(rng_), .from_version = RandomText(rng_), .to_version = "2"};
  }
  void operator()(TrialCreated& event) {
    event = {.trial = RandomId<TrialTag>(rng_),
             .point = RandomPoint(rng_),
             .suggestion = RandomSuggestion(rng_),
             .optimizer_state = RandomText(rng_)};
  }
  void operator()(TrialStateChanged& event) {
    event = {.trial = RandomId<TrialTag>(rng_),
             .from = RandomEnum(rng_, TrialState::kCancelled),
             .to = RandomEnum(rng_, TrialState::kCancelled),
             .failure = RandomEnum(rng_, FailureClass::kDiverged),
             .message = RandomText(rng_),
             .final_metrics = RandomNumbers(rng_),
             .final_step = RandomInt64(rng_),
             .final_elapsed = RandomDuration(rng_),
             .ran_to_end = rng_.Uniform() < 0.5};
  }
  void operator()(MeasurementReported& event) {
    event = {.trial = RandomId<TrialTag>(rng_),
             .measurement = RandomMeasurement(rng_),
             .judged_as_of = RandomId<EventTag>(rng_)};
  }
  void operator()(StopDecided& event) {
    event = {.trial = RandomId<TrialTag>(rng_), .stop = RandomStop(rng_)};
  }
  void operator()(ResumeDecided& event) {
    event = {.trial = RandomId<TrialTag>(rng_), .verdict = RandomStop(rng_)};
  }
  void operator()(LeaseGranted& event) {
    event = {.trial = RandomId<TrialTag>(rng_), .lease = RandomLease(rng_)};
  }
  void operator()(LeaseRenewed& event) {
    event = {.trial = RandomId<TrialTag>(rng_), .expires = RandomTime(rng_)};
  }
  void operator()(LeaseExpired& event) {
    event = {.trial = RandomId<TrialTag>(rng_), .token = RandomInt64(rng_)};
  }
  void operator()(AttemptPlaced& event) {
    event = {.trial = RandomId<TrialTag>(rng_),
             .attempt = RandomId<AttemptTag>(rng_),
             .placement = RandomPlacement(rng_),
             .directory = RandomText(rng_)};
  }
  void operator()(AttemptStateChanged& event) {
    event = {.trial = RandomId<TrialTag>(rng_),
             .attempt = RandomId<AttemptTag>(rng_),
             .to = RandomEnum(rng_, AttemptState::kLost),
             .failure = RandomEnum(rng_, FailureClass::kDiverged),
             .transient = rng_.UniformInt(2) == 0,
             .message = RandomText(rng_),
             .replicas = RandomResults(rng_)};
  }
  void operator()(TrialDeleted& event) { event = {.trial = RandomId<TrialTag>(rng_)}; }
  void operator()(MetadataChanged& event) {
    event.values.study = RandomMetadata(rng_);
    for (std::uint64_t left = rng_.UniformInt(3); left > 0; --left) {
      event.values.trials[RandomId<TrialTag>(rng_)] = RandomMetadata(rng_);
    }
  }

 private:
  Rng& rng_;
};

}  // namespace

double RandomNumber(Rng& rng) {
  using Limits = std::numeric_limits<double>;
  constexpr std::array kCorners = {-0.0,
                                   0.0,
                                   Limits::infinity(),
                                   -Limits::infinity(),
                                   Limits::denorm_min(),
                                   Limits::max(),
                                   1e-5,
                                   0.1};
  if (rng.UniformInt(2) == 0) return kCorners[rng.UniformInt(kCorners.size())];
  const double number = std::bit_cast<double>(rng.NextU64());
  return std::isnan(number) ? 0.5 : number;
}

ParameterValue RandomValue(Rng& rng) {
  switch (rng.UniformInt(4)) {
    case 0:
      return rng.UniformInt(2) == 0;
    case 1:
      return RandomInt64(rng);
    case 2:
      return RandomNumber(rng);
    default:
      return RandomText(rng);
  }
}

Point RandomPoint(Rng& rng) {
  Point point;
  for (std::uint64_t left = rng.UniformInt(4); left > 0; --left) {
    point[RandomText(rng)] = RandomValue(rng);
  }
  return point;
}

Measurement RandomMeasurement(Rng& rng) {
  return {.step = RandomInt64(rng),
          .elapsed = RandomDuration(rng),
          .time = RandomTime(rng),
          .metrics = RandomNumbers(rng),
          .source = RandomText(rng)};
}

Trial RandomTrial(Rng& rng, TrialNumber number) {
  Trial trial;
  trial.number = number;
  trial.state = RandomEnum(rng, TrialState::kCancelled);
  trial.point = RandomPoint(rng);
  trial.suggestion = RandomSuggestion(rng);
  trial.created = RandomTime(rng);
  trial.started = Maybe(rng, [&] { return RandomTime(rng); });
  trial.ended = Maybe(rng, [&] { return RandomTime(rng); });
  trial.last = Maybe(rng, [&] { return RandomMeasurement(rng); });
  trial.final_metrics = RandomNumbers(rng);
  trial.final_step = RandomInt64(rng);
  trial.final_elapsed = RandomDuration(rng);
  trial.metadata = RandomMetadata(rng);
  trial.deleted = rng.UniformInt(4) == 0;
  trial.measurements = RandomInt64(rng);
  trial.not_finite = RandomInt64(rng);
  trial.failure = RandomEnum(rng, FailureClass::kDiverged);
  trial.message = RandomText(rng);
  trial.stop = Maybe(rng, [&] { return RandomStop(rng); });
  trial.lease = Maybe(rng, [&] { return RandomLease(rng); });
  trial.client = RandomText(rng);
  for (std::uint64_t left = rng.UniformInt(3); left > 0; --left) {
    trial.attempts.push_back(RandomAttempt(rng));
  }
  return trial;
}

StudySpec RandomSpec(Rng& rng, const std::string& name) {
  StudySpec spec;
  spec.name = name;
  spec.objectives = {{.metric = "loss", .goal = RandomEnum(rng, Goal::kMinimize)}};
  spec.objectives.front().final = RandomEnum(rng, FinalValue::kBest);
  spec.metrics["loss"] = {.kind = RandomEnum(rng, MetricSourceKind::kRegex), .text = "x"};
  if (spec.metrics["loss"].kind == MetricSourceKind::kName) spec.metrics["loss"].text.clear();
  const double upper = 0.1 + rng.Uniform();
  absl::StatusOr<Space> space =
      Space::Create({{.name = "lr", .domain = FloatDomain{1e-5, upper, Scale::kLog}, .when = {}},
                     {.name = "width",
                      .domain = IntDomain{1, static_cast<std::int64_t>(2 + rng.UniformInt(1000))},
                      .when = {}}});
  VERNIER_CHECK(space.ok(), "a space made up for a test is legal");
  spec.space = *std::move(space);
  spec.parallel = static_cast<std::int32_t>(1 + rng.UniformInt(8));
  spec.budget.trials = Maybe(rng, [&] { return static_cast<std::int64_t>(8 + rng.UniformInt(9)); });
  spec.seed = rng.NextU64();
  if (rng.UniformInt(4) == 0) spec.lease.ttl = absl::InfiniteDuration();
  spec.judged_when_asked = rng.UniformInt(4) == 0;
  spec.foreign = Maybe(rng, [&] {
    return ForeignDefinition{
        .service = "vizier", .name = RandomText(rng), .definition = std::string("\x08\xFF", 2)};
  });
  return spec;
}

EventPayload RandomPayload(Rng& rng, std::size_t kind) {
  EventPayload payload = DefaultPayload(kind);
  std::visit(Filler(rng), payload);
  return payload;
}

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace vernier::testing
