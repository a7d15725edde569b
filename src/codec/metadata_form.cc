#include "src/codec/metadata_form.h"

#include "absl/strings/escaping.h"

namespace vernier::codec {
namespace {

// One piece of metadata. A list of these, since a key has two parts, each of which may hold any text.
struct Entry {
  std::string space;
  std::string name;
  std::string text;
  std::string type;
  std::string bytes;
};

struct TrialEntry {
  TrialNumber trial;
  Metadata metadata;
};

absl::StatusOr<MetadataValue> ValueOf(const Entry& entry) {
  // Text is stored as it is, so that people can read it; a packed message is bytes, which JSON cannot hold.
  if (entry.type.empty()) return MetadataValue{.type = "", .content = entry.text};
  MetadataValue value{.type = entry.type, .content = ""};
  if (absl::Base64Unescape(entry.bytes, &value.content)) return value;
  return InvalidArgument(".bytes: must be base64, got '{}'", entry.bytes);
}

}  // namespace

void Describe(auto& visit, Is<Entry> auto& entry) {
  visit("space", entry.space);
  visit("name", entry.name);
  visit("text", entry.text);
  visit("type", entry.type);
  visit("bytes", entry.bytes);
}
template <>
struct Form<Entry> : DescribedForm<Entry> {};

void Describe(auto& visit, Is<TrialEntry> auto& entry) {
  visit("trial", entry.trial);
  visit("metadata", entry.metadata);
}
template <>
struct Form<TrialEntry> : DescribedForm<TrialEntry> {};

Json Form<Metadata>::Write(const Metadata& metadata) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : metadata) {
    Entry& entry = entries.emplace_back();
    entry.space = key.space;
    entry.name = key.name;
    entry.type = value.type;
    (value.type.empty() ? entry.text : entry.bytes) =
        value.type.empty() ? value.content : absl::Base64Escape(value.content);
  }
  return Form<std::vector<Entry>>::Write(entries);
}

absl::Status Form<Metadata>::Read(const Json& json, Metadata& metadata) {
  std::vector<Entry> entries;
  VERNIER_RETURN_IF_ERROR(Form<std::vector<Entry>>::Read(json, entries));
  metadata.clear();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    absl::StatusOr<MetadataValue> value = ValueOf(entries[i]);
    if (!value.ok()) return Within(fmt::format("[{}]", i), value.status());
    metadata.insert_or_assign({.space = entries[i].space, .name = entries[i].name},
                              *std::move(value));
  }
  return absl::OkStatus();
}

Json Form<std::map<TrialNumber, Metadata>>::Write(const std::map<TrialNumber, Metadata>& trials) {
  std::vector<TrialEntry> entries;
  for (const auto& [trial, metadata] : trials) entries.push_back({trial, metadata});
  return Form<std::vector<TrialEntry>>::Write(entries);
}

absl::Status Form<std::map<TrialNumber, Metadata>>::Read(const Json& json,
                                                         std::map<TrialNumber, Metadata>& trials) {
  std::vector<TrialEntry> entries;
  VERNIER_RETURN_IF_ERROR(Form<std::vector<TrialEntry>>::Read(json, entries));
  trials.clear();
  for (TrialEntry& entry : entries) trials[entry.trial] = std::move(entry.metadata);
  return absl::OkStatus();
}

}  // namespace vernier::codec
