#pragma once

#include "nanobind/nanobind.h"

namespace vernier::python {

// A reference to a Python object that any thread may drop, with or without the GIL, under any lock, and in a forked child:
// the object is released when the next reference is made.
class Kept {
 public:
  // Needs the GIL.
  explicit Kept(nanobind::object object);
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // Needs the GIL to be used.
  nanobind::handle get() const { return object_; }

 private:
  PyObject* const object_;
};

}  // namespace vernier::python
