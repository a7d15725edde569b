#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "src/wire/value_proto.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

struct PredictArgs {
  std::string study;
  std::vector<std::string> point;
};

// One line for each objective and each outcome constraint, in the study's order.
std::string PredictionText(const StudySpec& spec,
                           const v1::PredictPointsResponse::Prediction& predicted) {
  const auto line = [](std::string_view name, double mean, double deviation) {
    return fmt::format("{}: {:.5g} ± {:.2g}\n", name, mean, deviation);
  };
  std::string text = line(FirstObjective(spec).metric, predicted.mean(), predicted.deviation());
  for (std::size_t i = 1; i < spec.objectives.size(); ++i) {
    const auto found = predicted.others().find(spec.objectives[i].metric);
    if (found == predicted.others().end()) continue;
    text += line(found->first, found->second.mean(), found->second.deviation());
  }
  for (const std::string& constraint : spec.outcome_constraints) {
    const auto found = predicted.others().find(constraint);
    if (found == predicted.others().end()) continue;
    const double mean = found->second.mean();
    text += line(fmt::format("{} {} by", constraint, mean >= 0 ? "is kept" : "is broken"),
                 std::abs(mean),
                 found->second.deviation());
  }
  return text;
}

absl::StatusOr<ExitCode> Predict(Context& context, const PredictArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const Point point, ParsePoint(study.study.spec.space, args.point));
  v1::PredictPointsRequest request;
  request.set_parent(wire::StudyResource(args.study));
  wire::EncodePoint(point, request.add_points()->mutable_parameters());
  VERNIER_ASSIGN_OR_RETURN(const v1::PredictPointsResponse response,
                           connection.CallOn(args.study, &Stub::PredictPoints, request));
  const v1::PredictPointsResponse::Prediction& predicted = response.predictions(0);
  context.output().Item(PredictionText(study.study.spec, predicted), ProtoToJson(predicted));
  return ExitCode::kOk;
}

}  // namespace

void AddStudyPredict(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<PredictArgs>(
      study,
      "predict",
      "Predict the objective at a point: mean ± standard deviation of the model",
      &Predict,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option("PARAMETERS", args->point, "Values of the parameters: NAME=VALUE …")
      ->required();
}

}  // namespace vernier::cli
