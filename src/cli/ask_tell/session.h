#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/cli/ask_tell/space_codec.h"
#include "vernier/ask_tell.h"

namespace vernier::cli {

// One conversation of `vernier ask-tell`: a JSON request a line, a JSON answer a line. docs/guides/cli.md describes it.
// No I/O. Whatever a line holds is answered; what cannot be done is answered with {"error": …} and changes nothing.
class AskTellSession {
 public:
  // The answer to one line, without a newline; nullopt: the session was closed.
  std::optional<std::string> Handle(std::string_view line);

 private:
  using Json = nlohmann::ordered_json;

  absl::StatusOr<Json> Dispatch(const std::string& op, const Json& request);
  absl::StatusOr<Json> Create(const Json& request);
  absl::StatusOr<Json> Ask(const Json& request);
  absl::StatusOr<Json> Tell(const Json& request);
  absl::StatusOr<Json> Load(const Json& request);

  // What "create" sets up.
  std::optional<SpaceCodec> codec_;
  std::optional<AskTell> optimizer_;
  std::size_t objectives_ = 0;
  std::size_t constraints_ = 0;
  // Asked of the optimiser for a request that wanted more than the space had left: for the next one.
  std::vector<AskTell::Asked> waiting_;
};

}  // namespace vernier::cli
