#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"

// Resource names of open-source Vizier: owners/OWNER, owners/OWNER/studies/STUDY and …/trials/NUMBER. OWNER and STUDY are
// any text without "/".
namespace vernier::vizier {

struct StudyName {
  std::string owner;
  std::string study;
  friend bool operator==(const StudyName&, const StudyName&) = default;
};
struct TrialName {
  StudyName study;
  TrialNumber number;
  friend bool operator==(const TrialName&, const TrialName&) = default;
};

// ForeignDefinition::service of studies that a Vizier client made.
inline constexpr std::string_view kVizier = "vizier";
// The owner of studies that no Vizier client made; under it a study has the name that it has everywhere else.
inline constexpr std::string_view kVernierOwner = "vernier";

std::string ResourceName(const StudyName& name);
std::string ResourceName(const TrialName& name);

// InvalidArgument: a FieldError at `field`, the name of the request's field that holds the resource's name.
absl::StatusOr<std::string> ParseOwnerName(std::string_view field, std::string_view name);
absl::StatusOr<StudyName> ParseStudyName(std::string_view field, std::string_view name);
absl::StatusOr<TrialName> ParseTrialName(std::string_view field, std::string_view name);

// What the study is called in Vernier: STUDY of kVernierOwner, OWNER-STUDY of others, where those are letters, digits and
// underscores; else what of them is, and a fingerprint of both. The same for ever.
std::string StoredName(const StudyName& name);
// Of the name, the same for ever.
std::uint64_t Fingerprint(const StudyName& name);
// What a stored study is called by Vizier's clients.
StudyName NameOf(const StudySpec& spec);

}  // namespace vernier::vizier
