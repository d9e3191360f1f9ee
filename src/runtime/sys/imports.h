// What a loaded module imports, by name: the slots that the loader fills with the addresses of functions.
#pragma once

#include <link.h>
#include <stdint.h>

#include "sys/text.h"

namespace simrt::runtime {

/// Dynamic relocations of one module, from dl_iterate_phdr.
class Imports {
 public:
  explicit Imports(const dl_phdr_info& info);

  /// Calls visit(name, slot) for each slot that gets the address of a named function.
  template <class Visit>
  void for_each(Visit visit) const {
    for_each_in(jump_slots_, jump_slots_bytes_, visit);
    for_each_in(relocations_, relocations_bytes_, visit);
  }
  /// Whether the compiler put ThreadSanitizer's hooks into it.
  bool is_instrumented() const {
    bool found = false;
    for_each([&](const char* name, uintptr_t*) { found = found || equal(name, "__tsan_", 7); });
    return found;
  }

 private:
  template <class Visit>
  void for_each_in(const ElfW(Rela) * begin, uint64_t bytes, Visit visit) const {
    if (begin == nullptr || symbols_ == nullptr || names_ == nullptr) return;
    for (uint64_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
      const auto symbol = ELF64_R_SYM(begin[i].r_info);
      if (symbol == 0) continue;
      visit(names_ + symbols_[symbol].st_name, reinterpret_cast<uintptr_t*>(bias_ + begin[i].r_offset));
    }
  }

  uintptr_t bias_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const ElfW(Rela) * jump_slots_ = nullptr;
  const ElfW(Rela) * relocations_ = nullptr;
  uint64_t jump_slots_bytes_ = 0, relocations_bytes_ = 0;
};

}  // namespace simrt::runtime
