// Tells ThreadSanitizer what absl::Mutex, absl::Notification and the shares of an absl::Status order.
//
// Debian's abseil is built without the sanitizer, which therefore sees no hand-over in it and reports every guarded field
// as a race, and the end of a status that threads shared. These definitions stand in front of the library's, call it, and
// say «acquired» and «released» around it.
#include <dlfcn.h>

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
// A waiter's condition may be evaluated by the thread that unlocks, inside the library, with the lock held.
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace {

template <typename Function>
Function* Next(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
}

class IgnoreReads {
 public:
  IgnoreReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoreReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

}  // namespace

// The library's own symbol of a member function, by its mangled name.
#define VERNIER_NEXT(symbol, ...) static auto* const next = Next<__VA_ARGS__>(symbol)

namespace absl {

void Mutex::Lock() {
  VERNIER_NEXT("_ZN4absl7debian35Mutex4LockEv", void(Mutex*));
  next(this);
  __tsan_acquire(this);
}

bool Mutex::TryLock() {
  VERNIER_NEXT("_ZN4absl7debian35Mutex7TryLockEv", bool(Mutex*));
  const bool locked = next(this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Unlock() {
  VERNIER_NEXT("_ZN4absl7debian35Mutex6UnlockEv", void(Mutex*));
  __tsan_release(this);
  const IgnoreReads ignore;
  next(this);
}

void Mutex::LockWhen(const Condition& condition) {
  VERNIER_NEXT("_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE", void(Mutex*, const Condition&));
  {
    const IgnoreReads ignore;
    next(this, condition);
  }
  __tsan_acquire(this);
}

void Mutex::Await(const Condition& condition) {
  VERNIER_NEXT("_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE", void(Mutex*, const Condition&));
  __tsan_release(this);
  {
    const IgnoreReads ignore;
    next(this, condition);
  }
  __tsan_acquire(this);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  VERNIER_NEXT("_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE",
               bool(Mutex*, const Condition&, Duration));
  __tsan_release(this);
  bool holds = false;
  {
    const IgnoreReads ignore;
    holds = next(this, condition, timeout);
  }
  __tsan_acquire(this);
  return holds;
}

void CondVar::Wait(Mutex* mutex) {
  VERNIER_NEXT("_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE", void(CondVar*, Mutex*));
  __tsan_release(mutex);
  next(this, mutex);
  __tsan_acquire(mutex);
}

void Notification::Notify() {
  VERNIER_NEXT("_ZN4absl7debian312Notification6NotifyEv", void(Notification*));
  __tsan_release(this);
  // `HasBeenNotified` is inline and loads the flag that follows the mutex. The sanitizer sees that load, and needs the
  // store it pairs with.
  static_assert(sizeof(Notification) == 2 * sizeof(Mutex));
  __tsan_release(reinterpret_cast<char*>(this) + sizeof(Mutex));
  next(this);
}

void Notification::WaitForNotification() const {
  VERNIER_NEXT("_ZNK4absl7debian312Notification19WaitForNotificationEv", void(const Notification*));
  next(this);
  __tsan_acquire(const_cast<Notification*>(this));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  VERNIER_NEXT("_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE",
               bool(const Notification*, Duration));
  const bool notified = next(this, timeout);
  if (notified) __tsan_acquire(const_cast<Notification*>(this));
  return notified;
}

// Gives a share back; the last to do so frees what was shared, after all others.
void Status::UnrefNonInlined(uintptr_t rep) {
  VERNIER_NEXT("_ZN4absl7debian36Status15UnrefNonInlinedEm", void(uintptr_t));
  auto* const shared = reinterpret_cast<void*>(rep);
  __tsan_release(shared);
  __tsan_acquire(shared);
  next(rep);
}

}  // namespace absl
