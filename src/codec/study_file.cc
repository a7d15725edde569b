#include "src/codec/study_file.h"

#include "src/codec/document.h"
#include "src/codec/job_file.h"
#include "src/codec/spec_form.h"
#include "src/core/limit_checks.h"
#include "vernier/core/error.h"

namespace vernier {

absl::StatusOr<StudySpec> ParseStudyFile(std::string_view text, std::string_view name) {
  VERNIER_ASSIGN_OR_RETURN(nlohmann::ordered_json document,
                           codec::ReadDocument(text, "study file"));
  // The caller's name takes the place of the file's, so that one file can define many studies.
  if (!name.empty() && document.is_object()) {
    document[codec::IsJobFile(document) ? "jobId" : "study"] = name;
  }
  return codec::StudySpecFromJson(document);
}

std::string FormatStudyFile(const StudySpec& spec) { return codec::StudySpecToYaml(spec); }

namespace codec {

absl::StatusOr<StudySpec> StudySpecFromJson(const nlohmann::ordered_json& document) {
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, ReadSpec(document, UnknownKeys::kRefuse));
  // Only for what users write: a stored study may exceed limits that came later.
  VERNIER_RETURN_IF_ERROR(CheckLimits(spec));
  return spec;
}

}  // namespace codec
}  // namespace vernier
