// The hook as bitcode: the compiler wrapper links it into every clang translation unit, where it is inlined
// after instrumentation (a call that only stores a byte costs mostly the spills around it). See
// src/wrappers/inline_step.h. Compiled by the user's clang at the first use, so that the bitcode has that
// compiler's version; `inline` makes it yield to the linked hook where both meet.
#include "hooks/cell.h"

extern "C" __attribute__((always_inline, used, visibility("hidden"))) inline void
__sanitizer_cov_trace_pc_guard(uint32_t* guard) {
  simrt::runtime::mark(guard);
}
