#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Bounds on input: what a client, a file or an embedding program may send. docs/reference/limits.md lists them. Stored
// data is not checked: a store that was written before a bound existed is opened, read and replayed.
//
// The bounds are choices, unless a comment says otherwise: far above ordinary use, and low enough that no single call,
// study or file exhausts the server for the others.
namespace vernier::limits {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// --- names and ids, in bytes ---
inline constexpr std::size_t kStudyName = 128;
inline constexpr std::size_t kParameterName = 128;
inline constexpr std::size_t kMetricName = 128;
inline constexpr std::size_t kLabels = 64;
inline constexpr std::size_t kLabelPart = 63;  // Of a key or a value, in characters.
inline constexpr std::size_t kClientId = 256;
inline constexpr std::size_t kRequestId = 256;
inline constexpr std::size_t kAttemptToken = 256;
inline constexpr std::size_t kVizierName = 1024;  // Of an owner or a study.

// --- definitions ---
// As JSON, without a foreign definition. Together with the metadata of the study it fits a message of 4 MiB, gRPC's
// default limit.
inline constexpr std::size_t kDefinition = 2 * kMiB;
inline constexpr std::size_t kForeignDefinition = 2 * kMiB;
inline constexpr std::size_t kFile = kMiB;
inline constexpr std::size_t kFileValues = 100'000;
inline constexpr std::size_t kFileDepth = 32;
inline constexpr std::size_t kParameters = 1000;
inline constexpr std::size_t kChoices = 100'000;
inline constexpr std::size_t kChoice = 1024;
inline constexpr std::size_t kConditions = 100;  // Of a parameter.
inline constexpr std::size_t kConstraints = 100;
inline constexpr std::size_t kOutcomeConstraints = 100;
inline constexpr std::size_t kExpression = 4096;
inline constexpr int kExpressionDepth = 64;
inline constexpr std::size_t kObjectives = 32;
inline constexpr std::int32_t kFinalCount = 1000;
inline constexpr std::size_t kMetricSources = 1000;
inline constexpr std::size_t kSourceText = 1000;
inline constexpr std::size_t kOptions = 100;  // Of an algorithm or a stopping rule.
inline constexpr std::size_t kOptionText = 4096;
inline constexpr std::size_t kEarlierStudies = 8;
inline constexpr std::int32_t kParallel = 10'000;
inline constexpr std::int64_t kDurationDays = 36'500;  // Of any time in a definition.

// --- jobs ---
inline constexpr std::int32_t kReplicas = 10'000;  // Of a role.
inline constexpr std::size_t kPackages = 100;
inline constexpr std::int32_t kPriority = 1000;
inline constexpr std::int32_t kRestarts = 100;
inline constexpr std::size_t kWords = 10'000;  // Of a command or its arguments.
inline constexpr std::size_t kWord = 64 * kKiB;
inline constexpr std::size_t kVariables = 1000;  // Of an environment.
inline constexpr std::size_t kVariable = 64 * kKiB;
inline constexpr std::size_t kSecret = 64 * kKiB;
inline constexpr std::size_t kPath = 4096;
inline constexpr std::size_t kJobName = 1024;  // Of an image, a module, a machine type, a region.

// --- trials ---
inline constexpr std::size_t kMetrics = 1000;  // Of a trial, and so of a measurement.
inline constexpr std::size_t kMeasurements = 1000;
inline constexpr std::size_t kValues = 10'000;  // In all measurements of a call.
inline constexpr std::int32_t kSuggestions = 1000;
inline constexpr std::size_t kAsked = 10'000;         // By the library and by ask-tell.
inline constexpr std::size_t kAddedValues = 200'000;  // In the curves that a call adds.
inline constexpr int kPredictedPoints = 1000;
inline constexpr std::size_t kMessage = 16 * kKiB;

// --- metadata, in bytes ---
inline constexpr std::size_t kMetadataKey = 1024;  // Of a namespace, a key, a type URL.
inline constexpr std::size_t kMetadataValue = 512 * kKiB;
inline constexpr std::size_t kStudyMetadata = kMiB;
inline constexpr std::size_t kTrialMetadata = 1 * kMiB;
inline constexpr std::size_t kMetadataUpdate = kMiB;
inline constexpr std::size_t kMetadataTrials = 1000;  // That one call writes to.

// --- lists and calls ---
inline constexpr std::int32_t kPageSize = 1000;
inline constexpr std::int32_t kCurvePage = 10'000;
inline constexpr std::size_t kPageToken = 64;
inline constexpr std::size_t kFilter = 4096;
inline constexpr int kFilterDepth = 32;
inline constexpr std::size_t kOrder = 1024;
inline constexpr std::size_t kMaskPaths = 200;
inline constexpr std::size_t kEventKinds = 64;
inline constexpr std::size_t kRequest = 64 * kMiB;
inline constexpr std::size_t kPackage = 512 * kMiB;
inline constexpr std::size_t kFileName = 200;

// A row of docs/reference/limits.md.
struct Limit {
  std::string_view what;
  std::uint64_t most = 0;  // Inclusive.
  std::string_view unit;
  // Fields of proto/vernier/v1 whose comment says "at most `most`", separated by blanks.
  std::string_view fields = "";
};

// clang-format off
inline constexpr auto kTable = std::to_array<Limit>({
    {"Name of a study", kStudyName, "bytes"},
    {"Name of a parameter", kParameterName, "bytes", "Parameter.name"},
    {"Name of a metric", kMetricName, "bytes", "Objective.metric Measurement.metrics ListMeasurementsRequest.metric"},
    {"Labels of a study", kLabels, "labels", "StudySpec.labels"},
    {"Key or value of a label", kLabelPart, "characters"},
    {"Id of a client or an actor", kClientId, "bytes",
     "SuggestTrialsRequest.client_id HeartbeatTrialRequest.client_id ReportMeasurementRequest.client_id "
     "CompleteTrialRequest.client_id FailTrialRequest.client_id MarkTrialInfeasibleRequest.client_id"},
    {"Id of a request", kRequestId, "bytes", "CreateStudyRequest.request_id UpdateStudyRequest.request_id"},
    {"Token of an attempt", kAttemptToken, "bytes", "ReportMeasurementRequest.attempt_token"},
    {"Owner or study of a Vizier client", kVizierName, "bytes"},
    {"Definition of a study, as JSON", kDefinition, "bytes", "CreateStudyRequest.study UpdateStudyRequest.study"},
    {"Definition by a Vizier client", kForeignDefinition, "bytes"},
    {"Study file, job file or server configuration", kFile, "bytes"},
    {"Values in a file", kFileValues, "values"},
    {"Nesting of a file", kFileDepth, "levels"},
    {"Parameters of a study", kParameters, "parameters", "StudySpec.parameters"},
    {"Choices or values of a parameter", kChoices, "choices", "CategoricalDomain.values DiscreteDomain.values Condition.values"},
    {"Text of a choice", kChoice, "bytes", "ParameterValue.text"},
    {"Conditions of a parameter", kConditions, "conditions", "Parameter.when"},
    {"Constraints of a study", kConstraints, "constraints", "StudySpec.constraints"},
    {"Outcome constraints of a study", kOutcomeConstraints, "constraints", "StudySpec.outcome_constraints"},
    {"Expression of a constraint", kExpression, "characters"},
    {"Nesting of an expression", kExpressionDepth, "levels"},
    {"Objectives of a study", kObjectives, "objectives", "StudySpec.objectives"},
    {"Values in the mean of `mean_of_last`", kFinalCount, "values"},
    {"Metrics with a source", kMetricSources, "metrics", "StudySpec.metrics"},
    {"Text of a metric's source", kSourceText, "characters"},
    {"Options of an algorithm or a stopping rule", kOptions, "options", "Choice.options"},
    {"Text of an option", kOptionText, "bytes"},
    {"Earlier studies of a warm start", kEarlierStudies, "studies", "StudySpec.warm_start"},
    {"Trials at once", kParallel, "trials", "StudySpec.parallel"},
    {"Time budget, lease, limit or grace", kDurationDays, "days"},
    {"Replicas of a role", kReplicas, "replicas", "ReplicaSpec.count"},
    {"Packages of a job", kPackages, "packages", "PythonProgram.packages"},
    {"Priority of a job", kPriority, ""},
    {"Restarts of a kind", kRestarts, "restarts"},
    {"Words of a command or its arguments", kWords, "words",
     "TrainingJob.command TrainingJob.args ReplicaSpec.command ReplicaSpec.args"},
    {"Word of a command or its arguments", kWord, "bytes"},
    {"Environment variables of a job or a role", kVariables, "variables", "TrainingJob.env ReplicaSpec.env"},
    {"Name or value of an environment variable", kVariable, "bytes"},
    {"File of a secret", kSecret, "bytes"},
    {"Path or URI of a job", kPath, "bytes",
     "TrainingJob.working_directory TrainingJob.job_directory ReplicaSpec.directory CodeSnapshot.archive"},
    {"Image, module, machine type, region or other name of a job", kJobName, "bytes",
     "TrainingJob.image TrainingJob.cluster TrainingJob.region ReplicaSpec.image ReplicaSpec.machine_type PythonProgram.module"},
    {"Metrics of a trial or a measurement", kMetrics, "metrics", "Measurement.metrics CompleteTrialRequest.final_metrics"},
    {"Measurements in a call", kMeasurements, "measurements", "ReportMeasurementRequest.measurements"},
    {"Metric values in all measurements of a call", kValues, "values", "ReportMeasurementRequest.measurements"},
    {"Trials in a call for suggestions", kSuggestions, "trials", "SuggestTrialsRequest.count"},
    {"Trials in a call of the library or of ask-tell", kAsked, "trials", "AddTrialsRequest.trials"},
    {"Metric values in the curves of all trials that a call adds", kAddedValues, "values", "AddedTrial.measurements"},
    {"Points in a call for predictions", kPredictedPoints, "points", "PredictPointsRequest.points"},
    {"Message or reason", kMessage, "bytes",
     "StopStudyRequest.reason FinishStudyRequest.reason FailTrialRequest.message MarkTrialInfeasibleRequest.message "
     "StopTrialRequest.reason"},
    {"Namespace, key or type of metadata", kMetadataKey, "bytes"},
    {"Value of metadata", kMetadataValue, "bytes"},
    {"Metadata of a study", kStudyMetadata, "bytes"},
    {"Metadata of a trial", kTrialMetadata, "bytes"},
    {"Metadata in a call", kMetadataUpdate, "bytes"},
    {"Trials whose metadata a call sets", kMetadataTrials, "trials"},
    {"Rows of a page", kPageSize, "rows", "ListStudiesRequest.page_size ListTrialsRequest.page_size"},
    {"Measurements of a page", kCurvePage, "measurements", "ListMeasurementsRequest.page_size"},
    {"Page token", kPageToken, "bytes"},
    {"Filter", kFilter, "bytes", "ListStudiesRequest.filter ListTrialsRequest.filter"},
    {"Nesting of a filter", kFilterDepth, "levels"},
    {"Order of a list", kOrder, "bytes", "ListStudiesRequest.order_by ListTrialsRequest.order_by"},
    {"Paths of an update mask", kMaskPaths, "paths", "UpdateStudyRequest.update_mask"},
    {"Kinds of events in a call", kEventKinds, "kinds", "WatchStudyRequest.kinds"},
    {"Message to the server", kRequest, "bytes"},
    {"Uploaded package", kPackage, "bytes", "UploadPackageRequest.data"},
    {"File name of a package", kFileName, "bytes", "UploadPackageRequest.file_name"},
});
// clang-format on

}  // namespace vernier::limits
