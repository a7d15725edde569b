#pragma once

#include <string>
#include <vector>

namespace vernier::launch {

// What a process starts with: "NAME=value".
using Environment = std::vector<std::string>;

// Names of variables that programs need to find themselves, their libraries, their devices and the network: PATH, HOME, LANG,
// CUDA_*, https_proxy and the like. None of them is a secret by its meaning.
const std::vector<std::string>& UsualVariables();

// The variables of this process that one of the patterns names: "DATA", "WANDB_*", "*" for all.
Environment OwnEnvironment(const std::vector<std::string>& patterns);

}  // namespace vernier::launch
