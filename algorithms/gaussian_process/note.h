#pragma once

#include <string>
#include <string_view>

namespace vernier::gp {

// Appends a part to the note of a suggestion.
inline void AddNote(std::string_view part, std::string& note) {
  if (!note.empty()) note += "; ";
  note += part;
}

}  // namespace vernier::gp
