#include "src/launch/local/gpu_inventory.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "src/core/byte_size.h"
#include "src/core/status.h"
#include "src/launch/programs.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

std::string_view TrimField(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Removes and returns the text before the next separator.
std::string_view TakePart(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

// Parses a number; nothing for nvidia-smi's "[N/A]".
std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

// "NVIDIA A100-SXM4-40GB" is an A100; "NVIDIA GeForce RTX 3090" is an RTX-3090.
std::string TypeOf(std::string_view name) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "GeForce ", "Quadro "}) {
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  }
  std::string type(name.substr(0, name.find('-')));
  if (type.starts_with("RTX ") || type.starts_with("GTX ")) {
    std::ranges::replace(type, ' ', '-');
    return type;
  }
  return type.substr(0, type.find(' '));
}

std::optional<GpuDevice> ParseGpuLine(std::string_view line) {
  const std::string_view index = TrimField(TakePart(line, ','));
  const std::string_view name = TrimField(TakePart(line, ','));
  const std::string_view memory = TrimField(TakePart(line, ','));
  const std::string_view uuid = TrimField(line);
  if (!Number(index).has_value() || name.empty()) return std::nullopt;
  return GpuDevice{.id = std::string(uuid.starts_with("GPU-") ? uuid : index),
                   .type = TypeOf(name),
                   .memory_bytes = Number(memory).value_or(0) << 20};
}

std::optional<GpuDevice> ParseDeclaredGpu(std::string_view text) {
  const auto colons = std::ranges::count(text, ':');
  if (colons > 2 || text.ends_with(':') || text.find_first_of(", ") != std::string_view::npos) {
    return std::nullopt;
  }
  GpuDevice gpu;
  if (colons > 0) gpu.type = TakePart(text, ':');
  gpu.id = TakePart(text, ':');
  if (gpu.id.empty()) return std::nullopt;
  if (colons < 2) return gpu;
  const std::optional<std::int64_t> memory = ParseByteSize(text);
  if (memory.value_or(0) <= 0) return std::nullopt;
  gpu.memory_bytes = *memory;
  return gpu;
}

}  // namespace

absl::StatusOr<std::vector<GpuDevice>> DetectGpus(const std::string& supervisor,
                                                  absl::Duration patience) {
  absl::StatusOr<std::string> lines = OutputOf({supervisor, "--gpus"}, patience);
  // A driver that hangs would hang nvidia-smi too. nvidia-smi is second since many containers lack it, and it takes
  // longer.
  if (!lines.ok() && !absl::IsDeadlineExceeded(lines.status())) {
    lines = OutputOf(
        {"nvidia-smi", "--query-gpu=index,name,memory.total,uuid", "--format=csv,noheader,nounits"},
        patience);
  }
  if (lines.ok()) return ParseGpuLines(*lines);
  // Other errors mean that there is no driver, which is no error on a host without GPUs.
  if (absl::IsDeadlineExceeded(lines.status())) return lines.status();
  return std::vector<GpuDevice>();
}

std::vector<GpuDevice> ParseGpuLines(std::string_view lines) {
  std::vector<GpuDevice> gpus;
  while (!lines.empty()) {
    std::optional<GpuDevice> gpu = ParseGpuLine(TakePart(lines, '\n'));
    if (gpu.has_value()) gpus.push_back(*std::move(gpu));
  }
  return gpus;
}

absl::StatusOr<std::vector<GpuDevice>> ParseDeclaredGpus(const std::vector<std::string>& declared) {
  std::vector<GpuDevice> gpus;
  for (const std::string& text : declared) {
    std::optional<GpuDevice> gpu = ParseDeclaredGpu(text);
    if (!gpu.has_value()) {
      return InvalidArgument("gpu '{}': must be TYPE:ID:MEMORY, TYPE:ID or ID, as in 'T4:0:16GiB'",
                             text);
    }
    if (std::ranges::find(gpus, gpu->id, &GpuDevice::id) != gpus.end()) {
      return InvalidArgument("gpu '{}': id {} is declared twice", text, gpu->id);
    }
    gpus.push_back(*std::move(gpu));
  }
  return gpus;
}

}  // namespace vernier::launch
