#include "src/import/storing.h"

#include <span>
#include <utility>

#include "src/core/status.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

std::size_t ValuesIn(const TrialAddition& trial) {
  std::size_t values = 0;
  for (const Measurement& measurement : trial.measurements) values += measurement.metrics.size();
  return values;
}

// Bytes of a message that a trial takes, roughly.
std::size_t SizeOf(const TrialAddition& trial) {
  constexpr std::size_t kPerValue = 64;
  std::size_t size = kPerValue * (ValuesIn(trial) + trial.point.size());
  for (const auto& [key, value] : trial.metadata) {
    size += kPerValue + key.name.size() + value.content.size();
  }
  return size;
}

// Calls `add` with parts of the trials, each of which fits one call.
template <typename Add>
absl::Status InBatches(const std::vector<TrialAddition>& trials, Add add) {
  std::vector<TrialAddition> batch;
  std::size_t values = 0;
  std::size_t size = 0;
  for (const TrialAddition& trial : trials) {
    const bool is_full = batch.size() == limits::kAsked ||
                         values + ValuesIn(trial) > limits::kAddedValues ||
                         size + SizeOf(trial) > limits::kRequest / 2;
    if (is_full && !batch.empty()) {
      VERNIER_RETURN_IF_ERROR(add(std::exchange(batch, {})));
      values = size = 0;
    }
    batch.push_back(trial);
    values += ValuesIn(trial);
    size += SizeOf(trial);
  }
  return batch.empty() ? absl::OkStatus() : add(batch);
}

}  // namespace

absl::Status StoreStudy(const ImportedStudy& study, Target& target) {
  const std::string& name = study.spec.name;
  const absl::StatusOr<StudySpec> earlier = target.GetDefinition(name);
  if (earlier.ok() && earlier->labels.contains(kUnfinishedLabel)) {
    VERNIER_RETURN_IF_ERROR(target.DeleteStudy(name));
  }
  StudySpec unfinished = study.spec;
  unfinished.labels[kUnfinishedLabel] = "true";
  VERNIER_RETURN_IF_ERROR(target.CreateStudy(unfinished));
  absl::Status status = InBatches(study.trials, [&](const std::vector<TrialAddition>& batch) {
    return target.AddTrials(name, batch);
  });
  if (status.ok()) status = target.SetLabels(name, study.spec);
  if (!status.ok()) target.DeleteStudy(name).IgnoreError();  // The error says more.
  return status;
}

}  // namespace vernier::imports
