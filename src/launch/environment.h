#pragma once

#include <string>
#include <vector>

namespace vernier::launch {

// The environment of a process: "NAME=value" each.
using Environment = std::vector<std::string>;

// Patterns of variables that programs need to find themselves, their libraries, their devices and the network: PATH,
// HOME, LANG, CUDA_*, https_proxy and so on. None is meant to hold a secret.
const std::vector<std::string>& UsualVariables();

// The variables of this process that match a pattern: "DATA", "WANDB_*", "*" for all.
Environment OwnEnvironment(const std::vector<std::string>& patterns);

}  // namespace vernier::launch
