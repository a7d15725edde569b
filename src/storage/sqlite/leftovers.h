#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "src/storage/sqlite/group_writer.h"
#include "vernier/core/ids.h"

namespace vernier::sqlite {

// Removes what is left of deleted studies, a step at a time, between the changes of others. Thread-safe.
class Leftovers {
 public:
  // `writer` must outlive it.
  explicit Leftovers(GroupWriter& writer) : writer_(writer) {}
  // Waits for no step: what is still there is removed when the store is opened again.
  ~Leftovers() { *is_ending_ = true; }
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  // Begins with the removal, and returns at once. Rows in damaged pages stay. A step that is refused for another reason ends it,
  // until the store is opened again.
  void Remove(StudyId study) { Step(writer_, is_ending_, study, 0); }

 private:
  static void Step(GroupWriter& writer,
                   const std::shared_ptr<std::atomic<bool>>& is_ending,
                   StudyId study,
                   std::uint32_t damaged);

  GroupWriter& writer_;
  // Shared with steps that are in line when this is destroyed.
  const std::shared_ptr<std::atomic<bool>> is_ending_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace vernier::sqlite
