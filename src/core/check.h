#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts with a message if `condition` is false. For conditions that only a bug in Vernier can break; bad input, full
// disks and dead peers return a Status.
#define VERNIER_CHECK(condition, message)                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "%s:%d: bug: %s (%s)\n", __FILE_NAME__, __LINE__, message, #condition); \
      std::abort();                                                                                \
    }                                                                                              \
  } while (false)
