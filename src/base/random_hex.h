#pragma once

#include <cstddef>
#include <string>

// Apart from keyed_hash.h, so that a client makes its token without a cryptographic library.
namespace vernier::base {

// Random bytes of the system as hexadecimal digits, two for each byte.
std::string RandomHex(std::size_t bytes);

}  // namespace vernier::base
