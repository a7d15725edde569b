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

// One conversation of `vernier ask-tell`: one JSON request a line, one JSON answer a line. docs/guides/cli.md describes
// it. Does no I/O. Every line gets an answer; an invalid request is answered with {"error": …} and changes nothing.
class AskTellSession {
 public:
  // The answer to one line, without a line end; nullopt: the session is closed.
  std::optional<std::string> Handle(std::string_view line);

 private:
  using Json = nlohmann::ordered_json;

  absl::StatusOr<Json> Dispatch(const std::string& op, const Json& request);
  absl::StatusOr<Json> Create(const Json& request);
  absl::StatusOr<Json> Ask(const Json& request);
  absl::StatusOr<Json> Report(const Json& request);
  absl::StatusOr<Json> Tell(const Json& request);
  absl::StatusOr<Json> Load(const Json& request);

  // State set up by "create".
  std::optional<SpaceCodec> codec_;
  std::optional<AskTell> optimizer_;
  std::size_t objectives_ = 0;
  std::size_t constraints_ = 0;
  // Suggestions that the optimiser made for a request that then failed, since the space had too few points left. They
  // go to the next request.
  std::vector<AskTell::Asked> waiting_;
};

}  // namespace vernier::cli
