// How an interposed function reaches the one it stands in front of.
// In libsimrt_rt.so it is the next definition in the search order; in the static runtime (SIMRT_STATIC) the
// linker renames with --wrap=NAME, which the compiler wrapper passes.
#pragma once

#ifdef SIMRT_STATIC
#define SIMRT_INTERCEPTOR(name) __wrap_##name
#define SIMRT_REAL(name) (&__real_##name)
#else
#include <dlfcn.h>
#define SIMRT_INTERCEPTOR(name) name
#define SIMRT_REAL(name) \
  (::simrt::runtime::next_definition<decltype(&SIMRT_INTERCEPTOR(name)), struct name##_tag>(#name))

namespace simrt::runtime {

/// Resolved at the first use, which may come before any constructor. Null when there is none.
template <class Function, class Tag>
Function next_definition(const char* name) {
  static void* resolved = nullptr;
  void* function = __atomic_load_n(&resolved, __ATOMIC_ACQUIRE);
  if (function == nullptr) {
    function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(&resolved, function, __ATOMIC_RELEASE);
  }
  return reinterpret_cast<Function>(function);
}

}  // namespace simrt::runtime
#endif

#define SIMRT_EXPORT [[gnu::visibility("default")]]
