#pragma once

#include <string>
#include <string_view>

namespace vernier::gp {

// The note of a suggestion, one part more.
inline void AddNote(std::string_view part, std::string& note) {
  if (!note.empty()) note += "; ";
  note += part;
}

}  // namespace vernier::gp
