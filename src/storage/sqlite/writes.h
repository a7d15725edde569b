#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/storage/sqlite/group_writer.h"
#include "src/storage/sqlite/rows.h"
#include "vernier/storage.h"

// All that is ever written.
namespace vernier::sqlite {

class CreateWrite final : public Write {
 public:
  // The study's id is set when it is applied.
  CreateWrite(Study study, const Event& created);
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return study_.id; }
  std::string_view study_name() const override { return study_.spec.name; }
  const Study& created() const { return study_; }

 private:
  Study study_;
  std::string spec_;  // SpecText of it.
  EventRow event_;
};

class CommitWrite final : public Write {
 public:
  explicit CommitWrite(Commit commit);
  // Whether to encode its rows takes so long that nobody else should wait for it.
  bool is_large() const;
  void Prepare() override;  // Encodes the rows.
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return commit_.study; }
  std::string_view study_name() const override { return commit_.header.spec.name; }

 private:
  Commit commit_;
  std::once_flag prepared_;
  absl::Status legal_;  // Whether the commit makes sense in itself.
  std::vector<EventRow> events_;
  std::vector<TrialRow> trials_;
  std::optional<std::string> spec_;      // Set if the commit may change it.
  std::optional<std::string> metadata_;  // Set if the commit changes the study's own.
};

class DeleteWrite final : public Write {
 public:
  DeleteWrite(StudyId id, std::string_view request_id) : id_(id), request_id_(request_id) {}
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return id_; }
  std::string_view study_name() const override { return ""; }

 private:
  StudyId id_;
  std::string request_id_;
};

// One step of the removal of a study that was deleted.
class RemoveWrite final : public Write {
 public:
  // `damaged`: what an earlier step said of it.
  RemoveWrite(StudyId id, std::uint32_t damaged) : id_(id), damaged_(damaged) {}
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return {}; }  // Nobody else writes to it.
  std::string_view study_name() const override { return ""; }
  // Once it was applied: whether there may be more to remove.
  bool is_more() const { return is_more_; }
  // Tables in which it met damage, or an earlier step did; see RemoveLeftovers.
  std::uint32_t damaged() const { return damaged_; }

 private:
  StudyId id_;
  std::uint32_t damaged_;
  bool is_more_ = true;
};

}  // namespace vernier::sqlite
