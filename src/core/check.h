#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts with a message if a condition that only a bug can break does not hold. Bad input, full disks and dead peers are
// never a CHECK.
#define VERNIER_CHECK(condition, message)                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "%s:%d: bug: %s (%s)\n", __FILE__, __LINE__, message, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
