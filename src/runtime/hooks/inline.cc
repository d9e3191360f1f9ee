// The hook as bitcode: the compiler wrapper links it into a clang translation unit after instrumentation,
// where it is inlined (a call that only stores a byte costs mostly the spills around it). See
// src/wrappers/inline_step.h.
#include "hooks/cell.h"

extern "C" __attribute__((always_inline)) void __sanitizer_cov_trace_pc_guard(uint32_t* guard) {
  simrt::runtime::mark(guard);
}
