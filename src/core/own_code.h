#pragma once

namespace vernier {

// The name of algorithms and stopping rules that are Python classes of a user's program: the option "class" names the class.
// Only the Python package adds it to its catalogue.
inline constexpr char kOwnCode[] = "python";

}  // namespace vernier
