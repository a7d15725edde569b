#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "src/wire/filter.h"
#include "src/wire/order.h"
#include "src/wire/page_token.h"
#include "vernier/core/ids.h"
#include "vernier/studies.h"

namespace vernier::service {

// Lists of trials by filter and order, read from the store a page at a time.
//
// By number or by a metric the store reads on where the last page ended. For any other order the trials are ranked in one pass,
// and the ranking, a number for each trial, is kept for the next page until the study changes.
// Thread-safe. Nothing is owned.
class TrialLists {
 public:
  explicit TrialLists(const Studies& studies) : studies_(studies) {}

  // What is listed.
  struct Query {
    StudyId study;
    std::string_view filter;
    std::string_view order_by;
  };
  // Calls `take` with one trial after the other, behind where `begin` says that the last page ended, until it returns false.
  // InvalidArgument: a FieldError at "filter" or "order_by".
  absl::Status Read(const Query& query,
                    const wire::PageToken& begin,
                    const std::function<bool(Trial)>& take);

 private:
  using Ranking = std::vector<TrialNumber>;
  struct Kept {
    StudyId study;
    std::string filter;
    std::string order_by;
    EventSeq as_of;
    std::shared_ptr<const Ranking> ranking;  // Shared with those who read it.
  };

  absl::Status ReadRanked(const Query& query,
                          const wire::Filter& filter,
                          const wire::Order& order,
                          const wire::PageToken& begin,
                          const std::function<bool(Trial)>& take);
  absl::StatusOr<std::shared_ptr<const Ranking>> GetRanking(const Query& query,
                                                            const wire::Filter& filter,
                                                            const wire::Order& order);
  std::shared_ptr<const Ranking> FindKept(const Query& query, EventSeq as_of)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Keep(Kept kept) ABSL_LOCKS_EXCLUDED(mu_);

  const Studies& studies_;
  absl::Mutex mu_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mu_);  // The one read last comes first.
};

}  // namespace vernier::service
