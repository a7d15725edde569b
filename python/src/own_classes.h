#pragma once

#include <memory>

#include "python/src/kept.h"
#include "vernier/algorithm_catalogue.h"

// Algorithms and stopping rules that users write in Python (vernier.Optimizer, vernier.StoppingRule).
//
// Locks: a rule judges under the lock of its study, and there waits for the GIL. So no thread may wait for a study while it
// holds the GIL: every call of the library is made without it.
namespace vernier::python {

// The catalogue of this package: what ships with Vernier, and the algorithm and the rule kOwnCode, whose option "class"
// names one of `classes`, a vernier._own.Classes. A class that is not there is looked for again at each call, so that
// studies can be read without it.
AlgorithmCatalogue CatalogueWith(std::shared_ptr<const Kept> classes);

// While it lives, calls of this thread are those of a replay: classes that do not declare that they are pure have another
// version then, so that what they did counts as unverifiable.
class ReplayScope {
 public:
  ReplayScope();
  ~ReplayScope();
  ReplayScope(const ReplayScope&) = delete;
  ReplayScope& operator=(const ReplayScope&) = delete;
};

}  // namespace vernier::python
