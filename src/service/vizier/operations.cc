#include "src/service/vizier/operations.h"

#include <algorithm>

#include "fmt/format.h"

namespace vernier::vizier {

void Operations::Add(StudyId study,
                     const StudyName& name,
                     const std::string& client,
                     google::longrunning::Operation& operation) {
  const absl::MutexLock lock(&mu_);
  const bool is_known = counts_[study].contains(client);
  // The counts would grow with every client that ever asked. Numbers start again, so the operations that have them are
  // forgotten, too.
  if (!is_known && clients_ == most_clients_) {
    counts_.clear();
    last_.clear();
    clients_ = 0;
  }
  clients_ += is_known ? 0 : 1;
  const std::int64_t number = ++counts_[study][client];
  operation.set_name(fmt::format(
      "owners/{}/operations/suggestion/{}/{}/{}", name.owner, name.study, client, number));
  last_.push_back({.study = study, .name = name, .operation = operation});
  if (last_.size() > most_) last_.pop_front();
}

std::optional<Operations::StoredOperation> Operations::Find(std::string_view name) const {
  const absl::MutexLock lock(&mu_);
  const auto found = std::ranges::find_if(
      last_, [name](const StoredOperation& kept) { return kept.operation.name() == name; });
  return found == last_.end() ? std::nullopt : std::optional(*found);
}

void Operations::Forget(StudyId study) {
  const absl::MutexLock lock(&mu_);
  std::erase_if(last_, [study](const StoredOperation& kept) { return kept.study == study; });
  const auto counts = counts_.find(study);
  if (counts == counts_.end()) return;
  clients_ -= counts->second.size();
  counts_.erase(counts);
}

}  // namespace vernier::vizier
