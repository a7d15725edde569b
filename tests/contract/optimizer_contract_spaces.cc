#include "tests/contract/optimizer_contract_spaces.h"

#include <cstdint>
#include <utility>

#include "tests/algorithms/spaces.h"

namespace vernier::testing {
namespace {

constexpr std::int64_t kPoints = 40;

Parameter GridFloat(std::string name, double lower, double upper, Scale scale = Scale::kLinear) {
  return Float(std::move(name), lower, upper, scale, kPoints);
}

ParameterValue Text(const char* text) { return std::string(text); }

// Three levels: optimizer -> nesterov -> its strength; and a branch with nothing below it.
Space ConditionalSpace() {
  return MakeSpace(
      {GridFloat("lr", 1e-5, 1e-1, Scale::kLog),
       Categorical("optimizer", {Text("sgd"), Text("adam"), Text("none")}),
       When(Bool("nesterov"), "optimizer", {Text("sgd")}),
       When(GridFloat("strength", 0.1, 1), "nesterov", {true}),
       When(GridFloat("beta", 0.9, 0.9999, Scale::kReverseLog), "optimizer", {Text("adam")})});
}

Space FiniteConditionalSpace() {
  return MakeSpace({Int("layers", 1, 2),
                    When(Bool("skip"), "layers", {std::int64_t{2}}),
                    When(Discrete("gain", {0.5, 2}), "skip", {true}),
                    Bool("norm")});
}

Space MixedSpaceOf40() {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    parameters.push_back(GridFloat("linear" + n, -1, 1));
    parameters.push_back(GridFloat("log" + n, 1e-6, 1, Scale::kLog));
    parameters.push_back(Int("int" + n, 0, 100));
    parameters.push_back(Categorical("choice" + n, {Text("a"), Text("b"), Text("c"), Text("d")}));
    parameters.push_back(Bool("flag" + n));
  }
  return MakeSpace(std::move(parameters));
}

}  // namespace

std::vector<SpaceCase> AllSpaceCases() {
  return {
      {"Empty", Space()},
      {"OneFloat", MakeSpace({GridFloat("x", -5, 10)})},
      {"LogAndReverseLog",
       MakeSpace({GridFloat("lr", 1e-6, 1, Scale::kLog),
                  GridFloat("momentum", 0.5, 0.999, Scale::kReverseLog)})},
      {"SteppedFloat", MakeSpace({Stepped("dropout", 0, 0.5, 0.1)})},
      {"Integers", MakeSpace({Int("a", -3, 12), Int("b", 1, 4096, Scale::kLog)})},
      {"HugeInteger", MakeSpace({Int("n", -(std::int64_t{1} << 60), std::int64_t{1} << 60)})},
      {"Discrete", MakeSpace({Discrete("batch", {16, 32, 64, 100})})},
      {"Categorical",
       MakeSpace(
           {Categorical("c", {Text("sgd"), std::int64_t{1}, 1.5, true}), GridFloat("x", 0, 1)})},
      {"Boolean", MakeSpace({Bool("a")})},
      {"Conditional", ConditionalSpace()},
      {"FiniteConditional", FiniteConditionalSpace()},
      {"Constrained",
       MakeSpace({Int("width", 16, 256, Scale::kLog), GridFloat("x", 0, 1), GridFloat("y", 0, 1)},
                 {"width * x <= 64", "x + y <= 1"})},
      {"FiniteConstrained", MakeSpace({Int("a", 1, 6), Int("b", 1, 6)}, {"a * b <= 6"})},
      {"FiniteTiny",
       MakeSpace({Bool("a"), Bool("b"), Categorical("c", {Text("x"), Text("y"), Text("z")})})},
      {"OnePoint", MakeSpace({Int("only", 3, 3), GridFloat("fixed", 0.5, 0.5)})},
      {"Mixed40", MixedSpaceOf40()},
  };
}

}  // namespace vernier::testing
