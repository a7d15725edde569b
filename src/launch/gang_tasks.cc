#include "src/launch/gang_tasks.h"

#include <charconv>

namespace vernier::launch {
namespace {

constexpr std::string_view kTasksForm = "vernier-tasks-1";
constexpr std::size_t kFieldsOfTask = 5;

void Replace(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

}  // namespace

// Fields end with a NUL byte, so that any path is safe; the first names the form.
std::string EncodeTasks(const std::vector<GangTask>& tasks) {
  std::string bytes(kTasksForm);
  bytes.push_back('\0');
  for (const GangTask& task : tasks) {
    for (const std::string& field :
         {task.folder, task.name, task.host, task.port, std::to_string(task.gpus)}) {
      bytes.append(field);
      bytes.push_back('\0');
    }
  }
  return bytes;
}

std::optional<std::vector<GangTask>> DecodeTasks(std::string_view bytes) {
  std::vector<std::string> fields;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    fields.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  if (fields.empty() || fields[0] != kTasksForm || (fields.size() - 1) % kFieldsOfTask != 0) {
    return std::nullopt;
  }
  std::vector<GangTask> tasks;
  for (std::size_t i = 1; i < fields.size(); i += kFieldsOfTask) {
    GangTask task{
        .folder = fields[i], .name = fields[i + 1], .host = fields[i + 2], .port = fields[i + 3]};
    const std::string& gpus = fields[i + 4];
    if (std::from_chars(gpus.data(), gpus.data() + gpus.size(), task.gpus).ec != std::errc()) {
      return std::nullopt;
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::string WithAddresses(std::string text,
                          const std::vector<GangTask>& tasks,
                          const std::vector<TaskAddress>& addresses) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].host.empty()) Replace(text, tasks[i].host, addresses[i].host);
    if (!tasks[i].port.empty()) Replace(text, tasks[i].port, addresses[i].port);
  }
  return text;
}

std::string AddressPath(std::string_view attempt_folder, std::size_t rank) {
  return std::string(attempt_folder) + "/" + kAddressesFolder + "/" + std::to_string(rank);
}

std::string EncodeAddress(const TaskAddress& address) {
  return address.host + " " + address.port + "\n";
}

std::optional<TaskAddress> DecodeAddress(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::size_t end = text.find('\n');
  if (space == std::string_view::npos || end == std::string_view::npos || end < space) {
    return std::nullopt;
  }
  return TaskAddress{.host = std::string(text.substr(0, space)),
                     .port = std::string(text.substr(space + 1, end - space - 1))};
}

}  // namespace vernier::launch
