#pragma once

#include "absl/status/status.h"
#include "src/storage/sqlite/connection.h"

namespace vernier::sqlite {

// Marks a file as a Vernier store: "Vrnr".
inline constexpr std::int64_t kApplicationId = 0x56726E72;

// Whether the file is an empty one or a store that this program knows; nothing is changed.
// DataLoss: not a Vernier store.  FailedPrecondition: written by a newer version.
absl::Status CheckOurs(Connection& connection);

// As CheckOurs, and FailedPrecondition: it is empty.
absl::Status CheckKnown(Connection& connection);

// Whether the file is a store of just the schema that this program writes, with its tables; nothing is changed.
// As CheckOurs, and FailedPrecondition: of an older schema, which is brought up when a server opens it.
absl::Status CheckCurrent(Connection& connection);

// Brings the store to the newest schema, in one transaction, and looks whether its tables are there; their rows are not
// read.  As CheckOurs, and DataLoss: damaged.
absl::Status Migrate(Connection& connection);

}  // namespace vernier::sqlite
