// Which processor the controlled executions of one program are pinned to. Handing the token from thread to
// thread is two to three times as quick on one processor; two programs pinned to the same one halve each
// other's speed while another may be idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace simrt::testing {

/// Holds a processor for as long as it lives: no other claim on this machine, of this or another process,
/// gets it as long as there are free ones. A process that dies gives up its claims. Thread-safe as distinct
/// objects.
class ProcessorClaim {
 public:
  ProcessorClaim() = default;
  /// The first free one of those that this process may run on, or when all are taken one that is shared.
  /// `directory`: where the claims of all processes are files (simrt-processor-N).
  static ProcessorClaim take(const std::string& directory);
  ProcessorClaim(ProcessorClaim&& other) noexcept;
  ProcessorClaim& operator=(ProcessorClaim&& other) noexcept;
  ~ProcessorClaim();

  /// Nothing when the machine does not say which processors there are: then nothing is pinned.
  std::optional<std::uint32_t> processor() const { return processor_; }
  /// Whether nobody else has it.
  bool exclusive() const { return lock_ >= 0; }

 private:
  int lock_ = -1;  // locked for as long as it is open
  std::optional<std::uint32_t> processor_;
};

}  // namespace simrt::testing
