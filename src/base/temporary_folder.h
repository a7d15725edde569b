#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace vernier::base {

// A temporary folder, removed with its contents by the destructor.
class TemporaryFolder {
 public:
  // Unavailable: it cannot be created.
  static absl::StatusOr<TemporaryFolder> Create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path);
  std::string path_;
};

}  // namespace vernier::base
