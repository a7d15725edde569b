#include "src/storage/sqlite/leftovers.h"

#include <utility>

#include "src/storage/sqlite/writes.h"

namespace vernier::sqlite {

void Leftovers::Step(GroupWriter& writer,
                     const std::shared_ptr<std::atomic<bool>>& is_ending,
                     StudyId study) {
  if (*is_ending) return;
  auto write = std::make_unique<RemoveWrite>(study);
  const RemoveWrite& step = *write;  // The ticket keeps it.
  const auto ticket = writer.Enqueue(std::move(write));
  writer.Then(*ticket, [&writer, &step, ticket, is_ending, study](const absl::Status& removed) {
    if (removed.ok() && step.is_more()) Step(writer, is_ending, study);
  });
}

}  // namespace vernier::sqlite
