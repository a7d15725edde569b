#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/base/private_folder.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/service/reply.h"
#include "src/service/study_service.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::service {
namespace {

namespace fs = std::filesystem;

absl::Status CheckFileName(const std::string& name) {
  // No leading dot: such names are those of files being received.
  const bool sound = !name.empty() && name.size() <= limits::kFileName && name.front() != '.' &&
                     name.front() != '-' && name.find('/') == std::string::npos &&
                     name.find('\0') == std::string::npos;
  if (sound) return absl::OkStatus();
  return FieldError("file_name", fmt::format("must be a plain file name, got '{}'", name));
}

// A file that is being received. Removed unless it was kept.
class IncomingFile {
 public:
  static absl::StatusOr<IncomingFile> Create(const std::string& directory) {
    // In the folder where the file will stay, so that Keep can rename it rather than copy it.
    const std::error_code error = base::MakePrivateFolders(directory);
    std::string path = directory + "/.incoming-XXXXXX";
    const int descriptor = error ? -1 : mkstemp(path.data());
    if (descriptor < 0) {
      return Unavailable(
          "cannot write to '{}': {}", directory, error ? error.message() : std::strerror(errno));
    }
    // mkstemp has made a file that only this user may read; it is written through the stream.
    close(descriptor);
    return IncomingFile(std::move(path));
  }
  IncomingFile(IncomingFile&& other) noexcept
      : path_(std::exchange(other.path_, "")), file_(std::move(other.file_)) {}
  IncomingFile& operator=(IncomingFile&&) = delete;
  ~IncomingFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  absl::Status Write(const std::string& data) {
    if (file_.write(data.data(), static_cast<std::streamsize>(data.size())))
      return absl::OkStatus();
    return ResourceExhausted("cannot write '{}': the disk may be full", path_);
  }

  // Moves it to where it stays, replacing what is there.
  absl::Status Keep(const fs::path& path) {
    // Before the rename: what is still buffered may not fit on the disk.
    file_.close();
    std::error_code error = base::MakePrivateFolders(path.parent_path());
    if (!error && file_) fs::rename(path_, path, error);
    if (error || !file_) {
      return Unavailable(
          "cannot write '{}': {}", path.string(), error ? error.message() : "the disk may be full");
    }
    path_.clear();
    return absl::OkStatus();
  }

 private:
  explicit IncomingFile(std::string path)
      : path_(std::move(path)), file_(path_, std::ios::binary | std::ios::trunc) {}

  std::string path_;
  std::ofstream file_;
};

}  // namespace

grpc::Status StudyServiceImpl::UploadPackage(grpc::ServerContext*,
                                             grpc::ServerReader<v1::UploadPackageRequest>* requests,
                                             v1::UploadedPackage* response) {
  return Reply("UploadPackage", "", [&]() -> absl::Status {
    v1::UploadPackageRequest request;
    if (!requests->Read(&request)) return FieldError("file_name", "is missing");
    VERNIER_RETURN_IF_ERROR(CheckFileName(request.file_name()));
    // Only this name becomes part of a path, and it holds no "/".
    const std::string name = request.file_name();
    VERNIER_ASSIGN_OR_RETURN(IncomingFile file, IncomingFile::Create(parts_.packages_directory));
    base::Sha256 hash;
    std::size_t size = 0;
    do {
      // Counted, and not taken from the client, who may send without end.
      size += request.data().size();
      if (size > limits::kPackage) {
        return FieldError("data", fmt::format("must be at most {} bytes", limits::kPackage));
      }
      hash.AddBytes(request.data());
      VERNIER_RETURN_IF_ERROR(file.Write(request.data()));
    } while (requests->Read(&request));
    // The folder is named after the content, so that the same file uploaded twice is stored once, and no upload changes
    // what a stored job names.
    const fs::path path = fs::path(parts_.packages_directory) / hash.Hex() / name;
    VERNIER_RETURN_IF_ERROR(file.Keep(path));
    response->set_uri("file://" + path.string());
    response->set_size(static_cast<std::int64_t>(size));
    return absl::OkStatus();
  });
}

}  // namespace vernier::service
