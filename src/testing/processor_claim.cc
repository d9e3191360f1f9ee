#include "testing/processor_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>
#include <vector>

namespace simrt::testing {
namespace {

std::vector<std::uint32_t> allowed_processors() {
  std::vector<std::uint32_t> allowed;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (std::uint32_t processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) allowed.push_back(processor);
  return allowed;
}

}  // namespace

ProcessorClaim ProcessorClaim::take(const std::string& directory) {
  ProcessorClaim claim;
  const auto allowed = allowed_processors();
  for (const std::uint32_t processor : allowed) {
    // Read-only, so that another user's file can be locked, too.
    const std::string path = fmt::format("{}/simrt-processor-{}", directory, processor);
    const int fd = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      close(fd);
      continue;
    }
    claim.lock_ = fd;
    claim.processor_ = processor;
    return claim;
  }
  // Shared: not all those that come too late on the same one.
  if (!allowed.empty()) claim.processor_ = allowed[static_cast<std::size_t>(getpid()) % allowed.size()];
  return claim;
}

ProcessorClaim::ProcessorClaim(ProcessorClaim&& other) noexcept
    : lock_(std::exchange(other.lock_, -1)), processor_(std::exchange(other.processor_, std::nullopt)) {}

ProcessorClaim& ProcessorClaim::operator=(ProcessorClaim&& other) noexcept {
  std::swap(lock_, other.lock_);
  std::swap(processor_, other.processor_);
  return *this;
}

ProcessorClaim::~ProcessorClaim() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace simrt::testing
