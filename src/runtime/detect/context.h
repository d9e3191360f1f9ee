// Calling contexts as small numbers, and sites back to addresses.
//
// A context is a node of the tree of calls (Ammons, Ball, Larus, PLDI 1997): the thread's stack of return
// addresses, innermost last. The node *is* its position in one open-addressed table, so that entering a
// function costs a multiplication, a load and a compare.
#pragma once

#include <stdint.h>

#include "detect/shadow.h"

namespace simrt::rt::detect {

using Context = uint32_t;
inline constexpr Context kNoContext = 0;
inline constexpr uint32_t kContextBits = 20;

extern uint64_t* context_table;  // parent << 32 | 1 << 31 | site; 0 = free

bool make_contexts();

Context child_context_slowly(Context parent, uint64_t key, uint32_t position);

inline Context child_context(Context parent, uintptr_t caller_pc) {
  const uint64_t key = uint64_t{parent} << 32 | kNoSite | site_of(caller_pc);
  const auto position = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> (64 - kContextBits));
  if (__atomic_load_n(&context_table[position], __ATOMIC_RELAXED) == key) [[likely]]
    return position;
  return child_context_slowly(parent, key, position);
}

/// Return addresses of a context, innermost first; at most `capacity`. Returns how many.
uint32_t context_frames(Context context, uintptr_t* frames, uint32_t capacity);

/// The address whose lower 31 bits `site` is: that of the executable mapping which has it (the first one when
/// two modules overlap in these bits, which takes random addresses and bad luck). 0 = no such mapping.
uintptr_t pc_of(Site site);

void contexts_fork_child();

}  // namespace simrt::rt::detect
