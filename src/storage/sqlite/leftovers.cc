#include "src/storage/sqlite/leftovers.h"

#include <utility>

#include "src/storage/sqlite/writes.h"

namespace vernier::sqlite {

void Leftovers::Step(GroupWriter& writer,
                     const std::shared_ptr<std::atomic<bool>>& is_ending,
                     StudyId study,
                     std::uint32_t damaged) {
  if (*is_ending) return;
  auto write = std::make_unique<RemoveWrite>(study, damaged);
  const RemoveWrite& step = *write;  // The ticket keeps it.
  const auto ticket = writer.Enqueue(std::move(write));
  writer.Then(*ticket, [&writer, &step, ticket, is_ending, study, damaged](const auto& removed) {
    // A refused step is tried again only if it found another damaged table: the next step leaves
    // that one alone. Otherwise it could go on without end.
    const bool goes_on = removed.ok() ? step.is_more() : step.damaged() != damaged;
    if (goes_on) Step(writer, is_ending, study, step.damaged());
  });
}

}  // namespace vernier::sqlite
