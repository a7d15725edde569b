#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Reads files that users name, or that others may have replaced. Only std and POSIX, because the supervisor of a
// replica uses it.
namespace vernier::base {

// A file open for reading. Opening never blocks, not even on a FIFO without a writer.
class OpenFile {
 public:
  enum class Link { kFollow, kRefuse };  // For a symbolic link as the last component.

  explicit OpenFile(const std::string& path, Link link = Link::kFollow);
  // Uses a descriptor that is open already, for instance standard input, and leaves it open.
  explicit OpenFile(int descriptor);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  // 0, or the errno with which opening failed.
  int error() const { return error_; }
  // "" for a regular file, else "a folder", "a pipe", "a socket", "a terminal" or "a device".
  std::string_view kind() const { return kind_; }
  // The current size. Nothing: errno says why.
  std::optional<std::int64_t> Size() const;

  // Reads at most `count` bytes of a regular file from `offset` on. Nothing: errno says why.
  std::optional<std::string> ReadAt(std::int64_t offset, std::int64_t count) const;
  // Reads from the current position to the end, but not much beyond `most_bytes`: a longer result means that there is
  // more. Waits for a pipe or a terminal; for a named pipe, ten seconds at most. Nothing: errno says why.
  std::optional<std::string> ReadToEnd(std::int64_t most_bytes) const;

 private:
  void Examine();
  bool IsWaitedFor() const;
  // Waits for data or the end. False: errno says why.
  bool Await() const;

  int fd_ = -1;
  bool is_owned_ = true;
  int error_ = 0;
  std::string_view kind_;
};

}  // namespace vernier::base
