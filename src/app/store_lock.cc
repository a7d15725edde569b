#include "src/app/store_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "nlohmann/json.hpp"
#include "src/app/server.h"
#include "src/core/status.h"

namespace vernier::app {
namespace {

// A process that was killed may leave the lock to a child that it was about to turn into another program, and somebody
// who looks at the lock holds it for a moment: both are over within milliseconds.
constexpr int kTries = 40;
constexpr int kPauseMilliseconds = 25;

std::string OwnerPath(const std::string& store) { return store + ".owner"; }

bool TryLock(int file) {
  for (int i = 0; i < kTries; ++i) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    poll(nullptr, 0, kPauseMilliseconds);
  }
  return false;
}

StoreOwner ReadOwner(int file) {
  std::array<char, 1024> text;
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  StoreOwner owner;
  if (size <= 0) return owner;
  const auto json = nlohmann::json::parse(text.data(), text.data() + size, nullptr, false);
  if (!json.is_object()) return owner;
  if (const auto pid = json.find("pid"); pid != json.end() && pid->is_number_integer()) {
    owner.process_id = pid->get<std::int64_t>();
  }
  if (const auto address = json.find("address"); address != json.end() && address->is_string()) {
    owner.address = address->get<std::string>();
  }
  return owner;
}

absl::Status Busy(const std::string& store, const StoreOwner& owner) {
  const std::string reach =
      owner.address.empty() ? std::string() : fmt::format(", reachable at {}", owner.address);
  return WithReason(
      Unavailable("store '{}' is in use by process {}{}", store, owner.process_id, reach),
      Reason::kStoreBusy);
}

}  // namespace

StoreLock::StoreLock(int file, std::string path) : file_(file), path_(std::move(path)) {}

StoreLock::~StoreLock() { close(file_); }

absl::StatusOr<std::unique_ptr<StoreLock>> StoreLock::Acquire(const std::string& store) {
  const std::string path = OwnerPath(store);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return Unavailable("file '{}' cannot be opened: {}", path, std::strerror(errno));
  if (!TryLock(file)) {
    const StoreOwner owner = ReadOwner(file);
    close(file);
    return Busy(store, owner);
  }
  std::unique_ptr<StoreLock> lock(new StoreLock(file, path));
  VERNIER_RETURN_IF_ERROR(lock->Publish(""));
  return lock;
}

absl::Status StoreLock::Publish(const std::string& address) {
  const std::string text = nlohmann::json({{"pid", getpid()}, {"address", address}}).dump() + "\n";
  const bool written = ftruncate(file_, 0) == 0 && pwrite(file_, text.data(), text.size(), 0) ==
                                                       static_cast<ssize_t>(text.size());
  if (written) return absl::OkStatus();
  return Unavailable("file '{}' cannot be written: {}", path_, std::strerror(errno));
}

std::optional<StoreOwner> FindStoreOwner(const std::string& store) {
  const int file = open(OwnerPath(store).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  // Whoever gets the lock, if only to share it, knows that nobody has it.
  const bool is_free = flock(file, LOCK_SH | LOCK_NB) == 0;
  const std::optional<StoreOwner> owner = is_free ? std::nullopt : std::optional(ReadOwner(file));
  close(file);
  return owner;
}

}  // namespace vernier::app
