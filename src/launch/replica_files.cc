// Encodes the program file, and reads and writes files in a folder that the program of the replica may write to as
// well. Therefore everything that is opened here may have been replaced by a link, a FIFO or a folder: nothing is
// followed, waited for or read without a limit, and a record is still written where a folder stands in its place.

#include "src/launch/replica_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "src/base/open_file.h"

namespace vernier::launch {
namespace {

constexpr std::string_view kForm = "vernier-program-7";
// Older versions, newest first. Without secrets:
constexpr std::string_view kFormWithoutSecrets = "vernier-program-6";
// Without secrets and setup:
constexpr std::string_view kFormWithoutSetup = "vernier-program-5";
// Without secrets, setup and containers:
constexpr std::string_view kFormWithoutContainers = "vernier-program-4";
// Without these, restarts and shares:
constexpr std::string_view kFormOfBefore = "vernier-program-2";

// Owns a file descriptor. Closing it preserves errno, which callers report.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    const int saved = errno;
    if (fd_ >= 0) close(fd_);
    errno = saved;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

void AddField(std::string& bytes, std::string_view field) {
  bytes.append(field);
  bytes.push_back('\0');
}

void AddList(std::string& bytes, const std::vector<std::string>& texts) {
  AddField(bytes, std::to_string(texts.size()));
  for (const std::string& text : texts) AddField(bytes, text);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void AddPairs(std::string& bytes, const Pairs& pairs) {
  AddField(bytes, std::to_string(pairs.size()));
  for (const auto& [name, value] : pairs) {
    AddField(bytes, name);
    AddField(bytes, value);
  }
}

// Reads fields from the front of the bytes. After the first missing or malformed field, `done` is false for good.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::string Text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      ok_ = false;
      return "";
    }
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return std::string(field);
  }
  std::int64_t Number() {
    const std::string text = Text();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) ok_ = false;
    return number;
  }
  std::vector<std::string> List() {
    std::vector<std::string> texts;
    for (std::int64_t left = Number(); left > 0 && ok_; --left) texts.push_back(Text());
    return texts;
  }
  Pairs NamedTexts() {
    Pairs pairs;
    for (std::int64_t left = Number(); left > 0 && ok_; --left) {
      std::string name = Text();
      pairs.emplace_back(std::move(name), Text());
    }
    return pairs;
  }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

void ReadShare(Fields& fields, SupervisedProgram& program) {
  program.share.cpu_millis = fields.Number();
  program.share.memory_bytes = fields.Number();
  program.control_groups = fields.List();
}

void ReadContainer(Fields& fields, ContainerSteps& container) {
  container.within_client = fields.Number() != 0;
  container.inspect = fields.List();
  container.remove = fields.List();
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The name under which a file is written before it is renamed.
std::string TemporaryOf(const std::string& path) { return path + ".new"; }

// Renames a folder that a program put in the place of a file, to NAME~1 or the next free name. It is not removed: its
// content may be the user's. False: there is no folder, or it cannot be renamed. Preserves errno.
bool SetFolderAside(const std::string& path) {
  // A choice: nobody makes so many by accident, and the loop must end.
  constexpr int kMostFolders = 1000;
  const int saved = errno;
  struct stat status {};
  bool moved = false;
  for (int i = 1; i <= kMostFolders && !moved; ++i) {
    if (lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) break;
    moved = rename(path.c_str(), (path + "~" + std::to_string(i)).c_str()) == 0;
  }
  errno = saved;
  return moved;
}

// Opens the file, or makes a new one. It is not truncated, since that would give the reserved blocks back. Anything but
// a regular file in its place is removed (ENXIO: a FIFO without reader, ELOOP: a symbolic link) or set aside.
int OpenForWriting(const std::string& path) {
  const auto open_it = [&](int more) {
    return open(
        path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | more, 0600);
  };
  const int fd = open_it(0);
  struct stat status {};
  if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  if (fd >= 0) close(fd);
  const bool is_folder = fd < 0 && errno == EISDIR && SetFolderAside(path);
  if (fd < 0 && errno != ENXIO && errno != ELOOP && !is_folder) return fd;
  unlink(path.c_str());
  return open_it(O_EXCL);
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

std::string EarlierExitFile(int run) { return "exit-" + std::to_string(run) + ".json"; }

std::string EncodeProgram(const SupervisedProgram& program) {
  std::string bytes;
  AddField(bytes, kForm);
  AddField(bytes, program.directory);
  AddField(bytes, std::to_string(program.grace_ms));
  AddField(bytes, std::to_string(program.output_bytes));
  AddField(bytes, std::to_string(program.restarts));
  AddField(bytes, program.lenient ? "1" : "0");
  AddList(bytes, program.argv);
  AddPairs(bytes, program.env);
  AddField(bytes, std::to_string(program.share.cpu_millis));
  AddField(bytes, std::to_string(program.share.memory_bytes));
  AddList(bytes, program.control_groups);
  AddField(bytes, program.container.within_client ? "1" : "0");
  AddList(bytes, program.container.inspect);
  AddList(bytes, program.container.remove);
  AddList(bytes, program.setup);
  AddPairs(bytes, program.secrets);
  return bytes;
}

std::optional<SupervisedProgram> DecodeProgram(std::string_view bytes) {
  Fields fields(bytes);
  const std::string form = fields.Text();
  const bool is_oldest = form == kFormOfBefore;
  const bool knows_setup = form == kForm || form == kFormWithoutSecrets;
  const bool knows_containers = knows_setup || form == kFormWithoutSetup;
  if (!knows_containers && form != kFormWithoutContainers && !is_oldest) return std::nullopt;
  SupervisedProgram program;
  program.directory = fields.Text();
  program.grace_ms = fields.Number();
  program.output_bytes = fields.Number();
  if (!is_oldest) {
    program.restarts = fields.Number();
    program.lenient = fields.Number() != 0;
  }
  program.argv = fields.List();
  program.env = fields.NamedTexts();
  if (!is_oldest) ReadShare(fields, program);
  if (knows_containers) ReadContainer(fields, program.container);
  if (knows_setup) program.setup = fields.List();
  if (form == kForm) program.secrets = fields.NamedTexts();
  if (!fields.done() || program.argv.empty()) return std::nullopt;
  return program;
}

std::optional<std::string> ReadWholeFile(const std::string& path,
                                         std::int64_t most_bytes,
                                         OpenFile::Link link) {
  const OpenFile file(path, link);
  if (file.error() != 0 || !file.kind().empty()) {
    errno = file.error() != 0 ? file.error() : EINVAL;
    return std::nullopt;
  }
  std::optional<std::string> contents = file.ReadToEnd(most_bytes);
  if (contents.has_value() && std::cmp_greater(contents->size(), most_bytes)) {
    errno = EFBIG;
    return std::nullopt;
  }
  return contents;
}

bool ReserveFile(const std::string& path) {
  const std::string temporary = TemporaryOf(path);
  const File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return false;
  // posix_fallocate returns the error and does not set errno.
  const int error = posix_fallocate(file.fd(), 0, kReservedBytes);
  if (error == 0) return true;
  unlink(temporary.c_str());
  errno = error;
  return false;
}

bool IsDiskFull(int error) { return error == ENOSPC || error == EDQUOT; }

bool IsOutOfReach(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

bool ReplaceFile(const std::string& path, std::string_view contents, bool durable) {
  const std::string temporary = TemporaryOf(path);
  {
    const File file(OpenForWriting(temporary));
    if (!file.ok() || !WriteAll(file.fd(), contents)) return false;
    // Cuts off the rest of the reserved space, only after the write: before it, another process could take the freed
    // blocks.
    if (ftruncate(file.fd(), static_cast<off_t>(contents.size())) != 0) return false;
    if (durable && fsync(file.fd()) != 0) return false;
  }
  const auto put = [&] { return rename(temporary.c_str(), path.c_str()) == 0; };
  if (!put() && !(SetFolderAside(path) && put())) return false;
  return !durable || SyncFolder(FolderOf(path));
}

bool SyncFolder(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.ok() && fsync(file.fd()) == 0;
}

bool CreateMarker(const std::string& path) {
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file.ok();
}

std::optional<std::uint64_t> ProcessStartTime(int pid) {
  const std::optional<std::string> stat = ReadWholeFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.has_value()) return std::nullopt;
  // The second field is the program's name in parentheses, which may itself hold spaces and parentheses; the start time
  // is field 22 (proc(5)).
  std::size_t at = stat->rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t ticks = 0;
  const char* const end = stat->data() + stat->size();
  if (std::from_chars(stat->data() + at + 1, end, ticks).ec != std::errc()) return std::nullopt;
  return ticks;
}

}  // namespace vernier::launch
