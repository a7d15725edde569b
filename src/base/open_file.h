#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Reading files that somebody else names, or may have put something else in the place of. Nothing but std and POSIX, because
// the supervisor of a replica reads files too.
namespace vernier::base {

// Something that is open for reading. To open it never waits, not even for the other end of a pipe.
class OpenFile {
 public:
  enum class Link { kFollow, kRefuse };  // A symbolic link at the end of the path.

  explicit OpenFile(const std::string& path, Link link = Link::kFollow);
  // What is open already, for instance standard input; it stays open.
  explicit OpenFile(int descriptor);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  // 0, or why it is not open: an errno.
  int error() const { return error_; }
  // "" for a regular file, else "a folder", "a pipe", "a socket", "a terminal" or "a device".
  std::string_view kind() const { return kind_; }
  // As of now. Nothing: errno says why.
  std::optional<std::int64_t> Size() const;

  // At most `count` bytes of a regular file, from `offset` on. Nothing: errno says why.
  std::optional<std::string> ReadAt(std::int64_t offset, std::int64_t count) const;
  // From where it stands to its end, but not much more than `most_bytes`: who gets more knows that there is more. Waits for
  // what comes out of a pipe or a terminal; for a pipe that has a name, ten seconds at most. Nothing: errno says why.
  std::optional<std::string> ReadToEnd(std::int64_t most_bytes) const;

 private:
  void Examine();
  bool IsWaitedFor() const;
  // Whether there is something to read, or an end.
  bool Await() const;

  int fd_ = -1;
  bool is_owned_ = true;
  int error_ = 0;
  std::string_view kind_;
};

}  // namespace vernier::base
