#include "src/client/upload.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "src/base/open_file.h"
#include "src/core/status.h"
#include "src/wire/status_proto.h"

namespace vernier::client {
namespace {

namespace fs = std::filesystem;

// Largest package, and largest piece of one message, in bytes.
constexpr std::int64_t kMostPackage = std::int64_t{4} << 30;
constexpr std::int64_t kPiece = std::int64_t{1} << 20;

}  // namespace

absl::StatusOr<std::string> UploadFile(v1::StudyService::StubInterface& stub,
                                       const std::string& path) {
  const base::OpenFile file(path);
  if (file.error() != 0 || !file.kind().empty()) {
    return InvalidArgument("package '{}': is no file that can be read", path);
  }
  const std::int64_t size = file.Size().value_or(0);
  if (size > kMostPackage) {
    return InvalidArgument(
        "package '{}': has {} bytes, at most {} are sent", path, size, kMostPackage);
  }
  grpc::ClientContext context;
  v1::UploadedPackage uploaded;
  const auto writer = stub.UploadPackage(&context, &uploaded);
  v1::UploadPackageRequest request;
  request.set_file_name(fs::path(path).filename().string());
  std::int64_t offset = 0;
  do {
    std::optional<std::string> piece = file.ReadAt(offset, std::min(kPiece, size - offset));
    if (!piece.has_value()) {
      context.TryCancel();
      return Unavailable("package '{}': cannot be read: {}", path, std::strerror(errno));
    }
    // An empty piece: the file became shorter meanwhile.
    offset = piece->empty() ? size : offset + static_cast<std::int64_t>(piece->size());
    request.set_data(*std::move(piece));
    if (!writer->Write(request)) break;  // The server refused; Finish has its reason.
    request.clear_file_name();
  } while (offset < size);
  writer->WritesDone();
  VERNIER_RETURN_IF_ERROR(wire::DecodeStatus(writer->Finish()));
  return uploaded.uri();
}

}  // namespace vernier::client
