#include <cstdio>

#include "tests/storage/stored_store.h"
#include "vernier/storage.h"

// make_stored_store FILE: writes the content of tests/storage/data as a store of this program's schema. Run it once for
// each schema that is released, and keep the file.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  const auto storage = vernier::OpenSqliteStorage({.path = argv[1]});
  const absl::Status status =
      storage.ok() ? vernier::testing::WriteStoredContent(**storage) : storage.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
