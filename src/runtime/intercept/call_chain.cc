#include "intercept/call_chain.h"

#ifndef SIMRT_STATIC
#include <dlfcn.h>
#endif

extern "C" {
struct _Unwind_Context;
using simrt_unwind_visitor = int (*)(_Unwind_Context*, void*);
// Weak and looked up, never linked: the runtime works in programs without an unwinder.
[[gnu::weak]] int _Unwind_Backtrace(simrt_unwind_visitor visit, void* argument);
[[gnu::weak]] uintptr_t _Unwind_GetIP(_Unwind_Context* context);
}

namespace simrt::runtime {
namespace {

using Backtrace = decltype(&_Unwind_Backtrace);
using GetIp = decltype(&_Unwind_GetIP);

constexpr int kGoOn = 0, kStop = 4;  // _URC_NO_REASON, _URC_NORMAL_STOP

struct Unwinder {
  Backtrace backtrace;
  GetIp get_ip;
};

Unwinder find_unwinder() {
  Unwinder result = {&_Unwind_Backtrace, &_Unwind_GetIP};
#ifndef SIMRT_STATIC
  // Loaded later than us (a plug-in in C++ under a program in C): the weak references stayed null.
  if (result.backtrace == nullptr) {
    result.backtrace = reinterpret_cast<Backtrace>(dlsym(RTLD_DEFAULT, "_Unwind_Backtrace"));
    result.get_ip = reinterpret_cast<GetIp>(dlsym(RTLD_DEFAULT, "_Unwind_GetIP"));
  }
#endif
  return result;
}

struct Visit {
  CallChain* chain;
  GetIp get_ip;
  uintptr_t direct;
  bool reached;  // the runtime's own frames come first
};

int visit_frame(_Unwind_Context* context, void* argument) {
  auto& visit = *static_cast<Visit*>(argument);
  const uintptr_t ip = visit.get_ip(context);
  if (!visit.reached) {
    visit.reached = ip == visit.direct;
    return kGoOn;
  }
  if (ip == 0 || visit.chain->count == CallChain::kCapacity) return kStop;
  visit.chain->frames[visit.chain->count++] = ip;
  return kGoOn;
}

}  // namespace

CallChain capture_call_chain(void* direct) {
  CallChain chain;
  chain.frames[chain.count++] = reinterpret_cast<uintptr_t>(direct);
  const Unwinder unwinder = find_unwinder();
  if (unwinder.backtrace == nullptr || unwinder.get_ip == nullptr) return chain;
  Visit visit = {&chain, unwinder.get_ip, reinterpret_cast<uintptr_t>(direct), false};
  unwinder.backtrace(&visit_frame, &visit);
  return chain;
}

}  // namespace simrt::runtime
