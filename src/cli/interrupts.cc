// The classic self-pipe: a handler may only call functions that are safe in signal handlers (signal-safety(7)), so it
// counts and writes a byte to a pipe, and Wait polls the pipe. Everything else happens outside the handler.

#include "src/cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "src/core/check.h"

namespace vernier::cli {
namespace {

// Global, since a signal handler gets no argument by which it could find its object.
std::atomic<int> interrupt_count = 0;
std::atomic<int> first_signal = 0;
std::atomic<int> wake_fd = -1;

// docs/guides/cli.md: the first Ctrl-C pauses, the second leaves, the third kills.
constexpr int kBearable = 2;

// Installs the handler and returns the action that it replaced. SA_RESTART spares callers EINTR; Wait uses poll, which
// is interrupted all the same.
struct sigaction Handle(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction replaced = {};
  sigaction(signal_number, &action, &replaced);
  return replaced;
}

void OnSignal(int signal_number) {
  // Every further line written to a closed pipe raises another SIGPIPE; they must not count as the user's second and
  // third signal.
  if (signal_number == SIGPIPE && first_signal.load() != 0) return;
  const int saved = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, signal_number);
  if (++interrupt_count >= kBearable) {
    Handle(SIGINT, SIG_DFL);
    Handle(SIGTERM, SIG_DFL);
  }
  const char byte = 0;
  // If the pipe is full, Wait wakes anyway.
  [[maybe_unused]] const auto written = write(wake_fd.load(), &byte, 1);
  errno = saved;
}

std::vector<int> SignalsOf(Interrupts::Heed heed) {
  std::vector<int> signals = {SIGINT, SIGTERM};
  if (heed == Interrupts::Heed::kUser) return signals;
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  // nohup(1) starts its command with SIGHUP ignored; that stays so.
  if (hangup.sa_handler != SIG_IGN) signals.push_back(SIGHUP);
  if (heed == Interrupts::Heed::kAll) signals.push_back(SIGPIPE);
  return signals;
}

}  // namespace

Interrupts::Interrupts(Heed heed) {
  VERNIER_CHECK(wake_fd.load() < 0, "one Interrupts at a time");
  VERNIER_CHECK(pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0, "a pipe can be made");
  interrupt_count = 0;
  first_signal = 0;
  wake_fd = pipe_[1];
  for (const int number : SignalsOf(heed)) replaced_.push_back({number, Handle(number, OnSignal)});
}

Interrupts::~Interrupts() {
  for (const Replaced& replaced : replaced_) {
    sigaction(replaced.signal_number, &replaced.action, nullptr);
  }
  wake_fd = -1;
  close(pipe_[0]);
  close(pipe_[1]);
}

int Interrupts::count() const { return interrupt_count.load(); }

int Interrupts::signal_number() const { return first_signal.load(); }

void Interrupts::Wait(absl::Duration patience) {
  pollfd readable = {.fd = pipe_[0], .events = POLLIN, .revents = 0};
  // poll takes milliseconds in an int; callers may pass an infinite duration and call again.
  constexpr auto kLongest = absl::Hours(24);
  const auto timeout = absl::ToInt64Milliseconds(std::min(patience, kLongest));
  poll(&readable, 1, static_cast<int>(timeout));
  char drained[64];
  while (read(pipe_[0], drained, sizeof(drained)) > 0) {
  }
}

}  // namespace vernier::cli
