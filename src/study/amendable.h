#pragma once

#include "vernier/core/study.h"

// Which parts of a definition may change after the study's creation. All others decide what earlier trials mean, or what a
// suggestion is computed from.
namespace vernier::study {

// Calls visit(part of the first, the same part of the second, …) for each of them.
template <typename Visit, typename... Specs>
void VisitAmendable(const Visit& visit, Specs&... specs) {
  visit(specs.labels...);
  visit(specs.stopping...);
  visit(specs.parallel...);
  visit(specs.budget.trials...);
  visit(specs.budget.failed_trials...);
  visit(specs.budget.time...);
  visit(specs.budget.gpu_hours...);
  visit(specs.convergence...);
  visit(specs.metrics...);
  visit(specs.lease...);
  visit(specs.job...);
}

// `spec` with every part that may change as it is in `other`.
inline StudySpec WithAmendable(StudySpec spec, const StudySpec& other) {
  VisitAmendable([](auto& part, const auto& from) { part = from; }, spec, other);
  return spec;
}

// Whether `after` differs from `before` only in what may change. Who runs the trials may not.
inline bool IsAmendment(const StudySpec& before, const StudySpec& after) {
  return before.job.has_value() == after.job.has_value() && WithAmendable(before, after) == after;
}

// `given` is the last definition that came as a whole. Another one came, and made `after` of `before`: what it changed is
// as it gave it.
inline void NoteWhole(const StudySpec& before, const StudySpec& after, StudySpec& given) {
  VisitAmendable(
      [](const auto& old, const auto& now, auto& part) {
        if (!(old == now)) part = now;
      },
      before,
      after,
      given);
}

}  // namespace vernier::study
