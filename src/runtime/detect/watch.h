// The watched sites: a set of return addresses, open addressing; or the others, when the set is what is not
// to be watched. Beside them, all code of some libraries.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sys/memory.h"

namespace simrt::rt::detect {

class Watch {
 public:
  /// Whether plain accesses are filtered at all.
  bool filters() const { return filters_; }
  /// Whether accesses from here are looked at.
  bool has(uintptr_t pc) const { return contains(pc) != inverted_ || in_library(pc); }
  /// From now on the sites that were added are the ones that are not watched.
  void invert() { inverted_ = true; }

  /// Empties it and makes room for `count` sites.
  bool reset(bool filters, size_t count) {
    filters_ = filters;
    inverted_ = false;
    capacity_ = 0;
    library_count_ = 0;
    if (count == 0) return true;
    size_t capacity = 64;
    while (capacity < 3 * count) capacity *= 2;
    slots_ = static_cast<uintptr_t*>(runtime::allocate(capacity * sizeof(uintptr_t)));
    if (slots_ == nullptr) return false;
    capacity_ = capacity;
    return true;
  }
  void add(uintptr_t pc) {
    if (pc == 0 || capacity_ == 0) return;
    size_t slot = slot_of(pc);
    while (slots_[slot] != 0 && slots_[slot] != pc) slot = (slot + 1) & (capacity_ - 1);
    slots_[slot] = pc;
  }
  /// All code in [begin, end). More than a few are not kept.
  void add_library(uintptr_t begin, uintptr_t end) {
    if (library_count_ < kMostLibraries) libraries_[library_count_++] = {begin, end};
  }

 private:
  struct Range {
    uintptr_t begin, end;
  };
  static constexpr uint32_t kMostLibraries = 4;

  bool in_library(uintptr_t pc) const {
    for (uint32_t i = 0; i < library_count_; ++i)
      if (pc >= libraries_[i].begin && pc < libraries_[i].end) return true;
    return false;
  }
  bool contains(uintptr_t pc) const {
    if (capacity_ == 0) return false;
    for (size_t slot = slot_of(pc);; slot = (slot + 1) & (capacity_ - 1)) {
      if (slots_[slot] == pc) return true;
      if (slots_[slot] == 0) return false;
    }
  }

  size_t slot_of(uintptr_t pc) const { return (pc * 0x9e3779b97f4a7c15u >> 24) & (capacity_ - 1); }

  bool filters_ = false, inverted_ = false;
  uintptr_t* slots_ = nullptr;
  size_t capacity_ = 0;
  Range libraries_[kMostLibraries] = {};
  uint32_t library_count_ = 0;
};

}  // namespace simrt::rt::detect
