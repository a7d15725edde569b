#include "python/src/imports.h"

#include <string>
#include <utility>
#include <vector>

#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "src/import/imported_study.h"
#include "src/import/storing.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

class StoreTarget final : public imports::Target {
 public:
  StoreTarget(Store& store, const std::string& actor) : store_(store), actor_(actor) {}

  absl::Status CreateStudy(const StudySpec& spec) override {
    return store_.CreateStudy(spec, {.actor = actor_, .request_id = ""}).status();
  }
  absl::Status AddTrials(const std::string& study,
                         const std::vector<TrialAddition>& trials) override {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, store_.FindStudy(study));
    return store_.AddTrials(id, trials, actor_);
  }
  absl::StatusOr<StudySpec> GetDefinition(const std::string& study) override {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, store_.FindStudy(study));
    VERNIER_ASSIGN_OR_RETURN(const auto spec, store_.GetDefinition(id));
    return *spec;
  }
  absl::Status SetLabels(const std::string& study, const StudySpec& with_labels) override {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, store_.FindStudy(study));
    Amendment change = {.clear_labels = true};
    change.labels.insert(with_labels.labels.begin(), with_labels.labels.end());
    return store_.Amend(id, change, actor_);
  }
  absl::Status DeleteStudy(const std::string& study) override {
    return store_.Delete(study, /*force=*/true, actor_);
  }

 private:
  Store& store_;
  const std::string actor_;
};

// This process runs the trials, as many at once as it likes.
void ForThisProcess(bool in_memory, imports::ImportedStudy& study) {
  study.spec.parallel = limits::kParallel;
  if (in_memory) study.spec.lease.ttl = absl::InfiniteDuration();
  if (!study.spec.job.has_value()) return;
  study.spec.job.reset();
  study.notes.emplace_back("job: left out, as the Python program runs the trials");
}

}  // namespace

nb::tuple ImportStudy(Store& store,
                      const std::string& path,
                      const std::string& name,
                      const std::string& study,
                      const std::string& format,
                      const std::vector<std::string>& objectives,
                      const std::string& space,
                      const std::vector<std::string>& parameters,
                      bool in_memory,
                      const std::string& actor) {
  const imports::ImportOptions options = {.format = format,
                                          .study = study,
                                          .name = name,
                                          .objectives = objectives,
                                          .space = space,
                                          .parameters = parameters};
  using Imported = std::pair<StudyId, imports::ImportedStudy>;
  const auto imported = ValueOrRaise(Unlocked([&]() -> absl::StatusOr<Imported> {
    VERNIER_ASSIGN_OR_RETURN(imports::ImportedStudy read, imports::ReadStudy(path, options));
    ForThisProcess(in_memory, read);
    StoreTarget target(store, actor);
    VERNIER_RETURN_IF_ERROR(imports::StoreStudy(read, target));
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, store.FindStudy(read.spec.name));
    return Imported(id, std::move(read));
  }));
  return nb::make_tuple(imported.first.value(), imported.second.spec.name, imported.second.notes);
}

}  // namespace vernier::python
