// See interrupt.h. The handler touches only lock-free atomics and write(2).
#include "support/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace simrt {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

std::atomic<InterruptToken*> g_token{nullptr};
std::array<struct sigaction, kSignals.size()> g_previous;

void on_signal(int signal) {
  const int saved_errno = errno;
  InterruptToken* token = g_token.load(std::memory_order_acquire);
  if (token == nullptr || token->requested()) {
    // The user insists. The signal is blocked while its handler runs, so it takes effect on return.
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  } else {
    token->request();
  }
  errno = saved_errno;
}

}  // namespace

InterruptToken::InterruptToken() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

InterruptToken::~InterruptToken() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InterruptToken::request() noexcept {
  requested_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  if (descriptor_ >= 0) [[maybe_unused]]
    const auto written = ::write(descriptor_, &one, sizeof one);
}

InterruptScope::InterruptScope(InterruptToken& token) {
  InterruptToken* expected = nullptr;
  active_ = g_token.compare_exchange_strong(expected, &token, std::memory_order_acq_rel);
  if (!active_) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &g_previous[i]);
    if (g_previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  if (!active_) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &g_previous[i], nullptr);
  g_token.store(nullptr, std::memory_order_release);
}

}  // namespace simrt
