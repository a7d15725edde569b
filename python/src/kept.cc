#include "python/src/kept.h"

#include <atomic>

namespace vernier::python {
namespace {

struct Dropped {
  PyObject* object;
  Dropped* next;
};
// A list without a lock, which a fork could leave locked.
std::atomic<Dropped*> dropped = nullptr;

void ReleaseDropped() {
  for (Dropped* at = dropped.exchange(nullptr); at != nullptr;) {
    Dropped* const next = at->next;
    Py_DECREF(at->object);
    delete at;
    at = next;
  }
}

}  // namespace

Kept::Kept(nanobind::object object) : object_(object.release().ptr()) { ReleaseDropped(); }

Kept::~Kept() {
  auto* const entry = new Dropped{object_, dropped.load()};
  while (!dropped.compare_exchange_weak(entry->next, entry)) {
  }
}

}  // namespace vernier::python
