#include "vernier/core/event.h"

#include <array>
#include <type_traits>

namespace vernier {
namespace {

// In the order of EventPayload's alternatives. Stored: never rename one.
constexpr std::array<std::string_view, 16> kKinds = {"study_created",
                                                     "study_state_changed",
                                                     "study_amended",
                                                     "algorithm_changed",
                                                     "trial_created",
                                                     "trial_state_changed",
                                                     "measurement_reported",
                                                     "stop_decided",
                                                     "resume_decided",
                                                     "lease_granted",
                                                     "lease_renewed",
                                                     "lease_expired",
                                                     "attempt_placed",
                                                     "attempt_state_changed",
                                                     "trial_deleted",
                                                     "metadata_changed"};
static_assert(kKinds.size() == std::variant_size_v<EventPayload>);

}  // namespace

std::string_view EventKind(const EventPayload& payload) { return kKinds.at(payload.index()); }

TrialNumber EventTrial(const EventPayload& payload) {
  return std::visit(
      [](const auto& event) {
        // An event about the study as a whole has no such member, and belongs to trial 0.
        if constexpr (requires { event.trial; }) {
          return event.trial;
        } else {
          return TrialNumber();
        }
      },
      payload);
}

}  // namespace vernier
