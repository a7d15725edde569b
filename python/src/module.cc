// vernier._core: the library in this process. What users see is made of it in python/vernier.

#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nanobind/nanobind.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/unique_ptr.h"
#include "nanobind/stl/vector.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/imports.h"
#include "python/src/space.h"
#include "python/src/store.h"
#include "python/src/values.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/study_file.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

using Metrics = std::map<std::string, double>;
using Texts = std::map<std::string, std::string>;

Metadata ToMetadata(const Texts& texts, const std::string& space) {
  Metadata metadata;
  for (const auto& [name, text] : texts) metadata[{space, name}] = {.type = "", .content = text};
  return metadata;
}

Texts ToTexts(const Metadata& metadata, const std::string& space) {
  Texts texts;
  for (const auto& [key, value] : metadata) {
    if (key.space == space) texts[key.name] = value.content;
  }
  return texts;
}

// Adds trials that were tried elsewhere, or that wait to be run, in one go: a store syncs its file once for all. Each is
// (params, metrics or None, curve, metadata). Returns their numbers, in that order; 0 for one that the study refuses.
nb::list AddTrials(Store& store,
                   std::int64_t id,
                   const nb::list& rows,
                   const std::string& space,
                   const std::string& actor) {
  using Row = std::
      tuple<nb::dict, std::optional<Metrics>, std::vector<std::pair<std::int64_t, Metrics>>, Texts>;
  std::vector<TrialAddition> additions;
  for (const nb::handle handle : rows) {
    const auto [point, metrics, curve, metadata] = nb::cast<Row>(handle);
    TrialAddition& addition = additions.emplace_back();
    addition.point = ToPoint(point);
    for (const auto& [step, values] : curve) {
      addition.measurements.push_back({.step = step, .metrics = values});
    }
    if (metrics.has_value()) addition.last = Measurement{.metrics = *metrics};
    addition.metadata = ToMetadata(metadata, space);
  }
  std::vector<absl::StatusOr<Trial>> added(additions.size());
  Unlocked([&] {
    std::latch left(static_cast<std::ptrdiff_t>(additions.size()));
    for (std::size_t i = 0; i < additions.size(); ++i) {
      store.studies().AddTrial(StudyId(id),
                               std::move(additions[i]),
                               Caller{.actor = actor, .request_id = ""},
                               [&added, &left, i](auto trial) {
                                 added[i] = std::move(trial);
                                 left.count_down();
                               });
    }
    left.wait();
    return true;
  });
  nb::list numbers;
  for (const absl::StatusOr<Trial>& trial : added) {
    if (!trial.ok() && !absl::IsInvalidArgument(trial.status())) Raise(trial.status());
    numbers.append(trial.ok() ? trial->number.value() : 0);
  }
  return numbers;
}

void SetMetadata(Store& store,
                 std::int64_t id,
                 const std::string& space,
                 const Texts& study,
                 const std::map<std::int64_t, Texts>& trials,
                 const std::string& actor) {
  MetadataUpdate update = {.study = ToMetadata(study, space), .trials = {}};
  for (const auto& [number, texts] : trials) {
    update.trials[TrialNumber(number)] = ToMetadata(texts, space);
  }
  OkOrRaise(Unlocked([&] {
    return store.studies().SetMetadata(
        StudyId(id), update, Caller{.actor = actor, .request_id = ""});
  }));
}

// The metadata in a namespace: that of the study, and that of each trial that has some.
nb::tuple GetMetadata(Store& store, std::int64_t id, const std::string& space) {
  const Study study = ValueOrRaise(Unlocked([&] { return store.studies().GetStudy(StudyId(id)); }));
  const auto trials =
      ValueOrRaise(Unlocked([&] { return store.studies().ListTrials(StudyId(id)); }));
  nb::dict by_number;
  for (const Trial& trial : trials) {
    const Texts texts = ToTexts(trial.metadata, space);
    if (!texts.empty()) by_number[nb::cast(trial.number.value())] = nb::cast(texts);
  }
  return nb::make_tuple(ToTexts(study.metadata, space), by_number);
}

}  // namespace
}  // namespace vernier::python

NB_MODULE(_core, module) {
  using vernier::python::Kept;
  using vernier::python::OkOrRaise;
  using vernier::python::Store;
  using vernier::python::ToList;
  using vernier::python::ToPoint;
  using vernier::python::Unlocked;
  using vernier::python::ValueOrRaise;

  const auto backend = vernier::python::DefineBackend(module);
  nb::class_<Store>(module, "Store", backend)
      .def_static("open",
                  [](const std::string& path, nb::object classes, double patience) {
                    auto kept = std::make_shared<const Kept>(std::move(classes));
                    return ValueOrRaise(Unlocked([&] {
                      return Store::Open(path, std::move(kept), absl::Seconds(patience));
                    }));
                  })
      .def("is_awaited", &Store::IsAwaited)
      .def("close", [](Store& store, bool is_brief) { Unlocked([&] { store.Close(is_brief); }); })
      .def("abandon", &Store::Abandon)
      .def("add_trials", &vernier::python::AddTrials)
      .def("set_metadata", &vernier::python::SetMetadata)
      .def("metadata", &vernier::python::GetMetadata)
      .def("import_study", &vernier::python::ImportStudy)
      .def("tick", [](Store& store) { OkOrRaise(Unlocked([&] { return store.Tick(); })); });
  // (address, token file) of the process that has the store open, if others can reach it.
  module.def("address_of_owner", [](const std::string& path) -> nb::object {
    const auto owner = vernier::storage::FindStoreOwner(path);
    if (!owner.has_value() || owner->address.empty()) return nb::none();
    return nb::make_tuple(owner->address, owner->token_file);
  });
  module.def("parameters", [](const std::string& definition) {
    return ToList(
        ValueOrRaise(Unlocked([&] { return vernier::ParseStudyFile(definition); })).space);
  });
  module.def("are_valid", [](const std::string& definition, const nb::list& points) {
    const auto spec = ValueOrRaise(Unlocked([&] { return vernier::ParseStudyFile(definition); }));
    nb::list valid;
    for (const nb::handle point : points) {
      const vernier::Point in_kind = spec.space.InKind(ToPoint(nb::cast<nb::dict>(point)));
      valid.append(spec.space.Check(in_kind).ok());
    }
    return valid;
  });
  vernier::python::DefineSpace(module);
  const auto built_in = vernier::AlgorithmCatalogue::BuiltIn();
  module.attr("algorithms") = built_in.AlgorithmNames();
  module.attr("stopping_rules") = built_in.StoppingRuleNames();
  module.attr("version") = VERNIER_VERSION;
}
