#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "src/service/trial_ranking.h"
#include "src/wire/filter.h"
#include "src/wire/order.h"
#include "src/wire/page_token.h"
#include "vernier/core/ids.h"
#include "vernier/study_reader.h"

namespace vernier::service {

// Lists of trials by filter and order, read from the store a page at a time.
//
// A call reads a bounded number of trials, so that it takes a bounded time however many the filter leaves out: a page may be
// short, or empty, with more behind it. By number or by a metric the store reads on where the last page ended. For any other
// order the trials are ranked first, over as many calls as that takes, and the ranking is kept for the pages that follow.
// Thread-safe. Nothing is owned.
class TrialLists {
 public:
  explicit TrialLists(const StudyReader& studies) : studies_(studies) {}

  // What is listed.
  struct Query {
    StudyId study;
    std::string_view filter;
    std::string_view order_by;
  };
  // Offers `take` one trial after the other, behind where `begin` says that the last page ended, until it returns false: that
  // one begins the next page. Returns where the next page begins; nothing: this is the last.
  // InvalidArgument: a FieldError at "filter" or "order_by".
  absl::StatusOr<std::optional<wire::PageToken>> Read(
      const Query& query,
      const wire::PageToken& begin,
      const std::function<bool(const Trial&)>& take);

 private:
  struct Page;
  struct CachedRanking {
    StudyId study;
    std::string order_by;
    std::shared_ptr<const TrialRanking> ranking;  // Shared with those who read it.
  };

  absl::Status Scan(const Query& query, const TrialScan& scan, Page& page) const;
  absl::Status ReadByMetric(const Query& query, TrialScan scan, Page& page) const;
  absl::Status ReadRanked(const Query& query, const wire::Order& order, Page& page);
  // Nothing was seen by one that is not cached.
  TrialRanking FindCached(const Query& query) ABSL_LOCKS_EXCLUDED(mu_);
  void Cache(CachedRanking cached) ABSL_LOCKS_EXCLUDED(mu_);

  const StudyReader& studies_;
  absl::Mutex mu_;
  std::list<CachedRanking> cache_ ABSL_GUARDED_BY(mu_);  // The one read last comes first.
};

}  // namespace vernier::service
