#include "pipeline/execution/memory_misuse.h"

#include <algorithm>
#include <map>

namespace simrt::pipeline {
namespace {

using format::EventKind;

/// Released memory that was not handed out again.
class Released {
 public:
  void release(std::uint64_t begin, std::uint64_t size, std::size_t event) {
    blocks_[begin] = {begin + std::max<std::uint64_t>(size, 1), event};
  }
  void reuse(std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t end = begin + std::max<std::uint64_t>(size, 1);
    auto at = blocks_.lower_bound(begin);
    if (at != blocks_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != blocks_.end() && at->first < end) at = blocks_.erase(at);
  }
  /// The event that released the memory.
  std::optional<std::size_t> touched(std::uint64_t begin, std::uint64_t size) const {
    if (blocks_.empty()) return std::nullopt;
    const std::uint64_t end = begin + std::max<std::uint64_t>(size, 1);
    auto at = blocks_.lower_bound(end);
    if (at == blocks_.begin()) return std::nullopt;
    --at;
    return at->second.end > begin ? std::optional(at->second.event) : std::nullopt;
  }
  std::optional<std::size_t> released(std::uint64_t begin) const {
    const auto at = blocks_.find(begin);
    return at == blocks_.end() ? std::nullopt : std::optional(at->second.event);
  }

 private:
  struct Block {
    std::uint64_t end;
    std::size_t event;
  };
  std::map<std::uint64_t, Block> blocks_;
};

bool touches_memory(EventKind kind) { return kind >= EventKind::Read && kind <= EventKind::AtomicFailed; }

}  // namespace

std::optional<MemoryMisuse> find_memory_misuse(const testing::Execution& execution) {
  Released released;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const format::RunEvent& event = execution.events[i];
    const auto kind = static_cast<EventKind>(event.kind);
    if (kind == EventKind::Allocate) {
      released.reuse(event.object, event.size);
    } else if (kind == EventKind::Free) {
      if (const auto before = released.released(event.object)) return MemoryMisuse{true, i, *before};
      released.release(event.object, event.size, i);
    } else if (touches_memory(kind)) {
      if (const auto before = released.touched(event.object, event.size))
        return MemoryMisuse{false, i, *before};
    }
  }
  return std::nullopt;
}

std::string to_string(const MemoryMisuse& misuse) {
  return misuse.double_release ? "double free" : "use after free";
}

}  // namespace simrt::pipeline
