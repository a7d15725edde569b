// A change applies its events to the fold before the store has them. If the store refuses the
// commit, LiveStudy throws the fold away; a Draft itself never undoes anything.

#include "src/study/draft.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace vernier::study {

Draft::Draft(StudyFold& fold, const Caller& caller, absl::Time now)
    : fold_(fold),
      caller_(caller),
      // Times in a log never go back, even if the clock does.
      now_(std::max(now, fold.header().updated)),
      before_(fold.header().last_event) {}

void Draft::Add(EventPayload payload) {
  // After an event that did not fit, the fold is not to be used any more.
  if (!status_.ok()) return;
  Event event{.seq = EventSeq(fold_.header().last_event.value() + 1),
              .time = now_,
              .actor = caller_.actor,
              .request_id = is_consequence_ ? std::string() : caller_.request_id,
              .payload = std::move(payload)};
  status_ = fold_.Apply(event);
  // The rows of these trials are written in the transaction of the events (Invariant 1).
  const TrialNumber trial = EventTrial(event.payload);
  if (trial.value() != 0) touched_.insert(trial);
  if (const auto* const change = std::get_if<MetadataChanged>(&event.payload)) {
    for (const auto& [number, values] : change->values.trials) touched_.insert(number);
  }
  events_.push_back(std::move(event));
}

Commit Draft::Build() && {
  Commit commit{.study = study().id,
                // The store refuses the commit if its log is not this long, so that no two changes
                // get one number.
                .expected = before_,
                .events = std::move(events_),
                .header = study(),
                .trials = {}};
  commit.trials.reserve(touched_.size());
  for (const TrialNumber number : touched_) commit.trials.push_back(trial(number));
  return commit;
}

}  // namespace vernier::study
