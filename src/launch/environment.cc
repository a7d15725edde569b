#include "src/launch/environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_split.h"

namespace vernier::launch {
namespace {

// Programs of trials do not inherit the environment of the server, which may hold its secrets
// (docs/guides/security.md). This list is what a program started from a shell would still expect; it is printed in that
// guide.
constexpr char kUsual[] =
    // The user and the system.
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TZDIR TMPDIR XDG_* "
    "DBUS_SESSION_BUS_ADDRESS LD_LIBRARY_PATH LD_PRELOAD LOCPATH MALLOC_* "
    // Python.
    "PYTHON* VIRTUAL_ENV CONDA_* MAMBA_* PIP_* UV_CACHE_DIR UV_INDEX* UV_DEFAULT_INDEX UV_NO_* "
    "UV_OFFLINE UV_PYTHON* "
    // The network.
    "http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY "
    "ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE "
    // Devices and libraries that compute.
    "CUDA_* NVIDIA_* NCCL_* UCX_* GLOO_* ROCR_* HIP_* HSA_* OMP_* KMP_* MKL_* OPENBLAS_* "
    "NUMEXPR_* TF_CPP_* TF_FORCE_* TF_ENABLE_* XLA_* KERAS_HOME TORCH_* PYTORCH_* "
    "TORCHINDUCTOR_* TRITON_* HF_HOME HF_HUB_* TRANSFORMERS_CACHE MPLCONFIGDIR "
    // Container engines.
    "DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST CONTAINERS_* APPTAINER_BIND* APPTAINER_CACHEDIR "
    "APPTAINER_CONFIGDIR APPTAINER_NV APPTAINER_ROCM APPTAINER_TMPDIR SINGULARITY_BIND* "
    "SINGULARITY_CACHEDIR SINGULARITY_NV SINGULARITY_TMPDIR";

bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

}  // namespace

const std::vector<std::string>& UsualVariables() {
  static const std::vector<std::string> names = absl::StrSplit(kUsual, ' ');
  return names;
}

Environment OwnEnvironment(const std::vector<std::string>& patterns) {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('='));
    const auto matches = [&](const std::string& pattern) { return Matches(name, pattern); };
    if (std::ranges::any_of(patterns, matches)) environment.emplace_back(variable);
  }
  return environment;
}

}  // namespace vernier::launch
