#include "intercept/check/counted.h"

#include <link.h>

#include "detect/thread.h"
#include "emit/run_modules.h"
#include "intercept/check/call.h"
#include "sys/imports.h"
#include "sys/lock.h"

namespace simrt::rt {
namespace {

struct Text {
  uintptr_t begin, end;
  bool counts, has_hooks;
};

constexpr uint32_t kMost = 1024;
Text texts[kMost];
uint32_t text_count = 0;  // published last
// Where the last program counter in a page with these lowest bits was found: the number of texts then, which
// must still be so, and the index.
constexpr uint32_t kPages = 256;
uint32_t text_of_page[kPages];
runtime::SpinLock lock;

int add_module(dl_phdr_info* info, size_t, void*) {
  const bool has_hooks = runtime::Imports(*info).is_instrumented();
  const bool counts = has_hooks || is_cxx_library(info->dlpi_name);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    bool known = false;
    for (uint32_t k = 0; k < text_count; ++k)
      known = known || (texts[k].begin == begin && texts[k].end == end);
    if (known || text_count == kMost) continue;
    texts[text_count] = {begin, end, counts, has_hooks};
    __atomic_store_n(&text_count, text_count + 1, __ATOMIC_RELEASE);
  }
  return 0;
}

const Text* find(uintptr_t pc) {
  const uint32_t n = __atomic_load_n(&text_count, __ATOMIC_ACQUIRE);
  uint32_t& of_page = text_of_page[(pc >> 12) % kPages];
  const uint32_t found = __atomic_load_n(&of_page, __ATOMIC_RELAXED), hit = found % kMost;
  if (n != 0 && found / kMost == n && pc >= texts[hit].begin && pc < texts[hit].end) return &texts[hit];
  for (uint32_t i = n; i-- > 0;) {  // the latest first: an address may have been another module's before
    if (pc < texts[i].begin || pc >= texts[i].end) continue;
    __atomic_store_n(&of_page, n * kMost + i, __ATOMIC_RELAXED);
    return &texts[i];
  }
  return nullptr;
}

// Where the innermost function with hooks stands: its call came to lie where that of the hook at its entry
// had been, for functions call from one depth of the stack (unless they push arguments, or have arrays of
// variable length). 0: not known. `frame`: of that hook.
uintptr_t call_beside(uintptr_t frame) {
  constexpr uintptr_t kFarthest = 1u << 20;  // another stack's
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (frame <= here || frame - here > kFarthest) return 0;
  const uintptr_t returns = reinterpret_cast<const uintptr_t*>(frame)[1];
  const Text* text = find(returns);
  return text != nullptr && text->has_hooks ? returns : 0;
}

uintptr_t innermost_frame() {
  if (const detect::Thread* thread = detect::self; thread != nullptr) return detect::innermost_frame(*thread);
  const control::Thread* thread = control::current_thread;
  return thread == nullptr ? 0 : thread->calls.innermost_frame();
}

}  // namespace

LibraryCall::LibraryCall(uintptr_t pc) {
  const Text* text = find(pc);
  if (text == nullptr || text->has_hooks || !text->counts) return;
  const uintptr_t caller = call_beside(innermost_frame());
  if (caller == 0) return;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  detected_ = detect::self != nullptr;
  if (detected_) detect::push_frame(*detect::self, caller, here);
  controlled_ = controlled();
  if (controlled_) control::enter_function(caller, here);
}

bool counts(uintptr_t pc) {
  const Text* text = find(pc);
  if (text == nullptr) {
    // Who holds the lock is this thread (the loader called us back), or will be done soon.
    if (!lock.try_lock()) return false;
    dl_iterate_phdr(&add_module, nullptr);
    text = find(pc);
    if (text == nullptr && text_count < kMost) {  // code of no module (made at run time): remember its page
      texts[text_count] = {pc & ~uintptr_t{4095}, (pc & ~uintptr_t{4095}) + 4096, false, false};
      __atomic_store_n(&text_count, text_count + 1, __ATOMIC_RELEASE);
    }
    lock.unlock();
  }
  return text != nullptr && text->counts;
}

uintptr_t library_caller(uintptr_t pc) {
  if (detect::self == nullptr) return 0;
  counts(pc);  // makes it known
  const Text* text = find(pc);
  if (text == nullptr || text->has_hooks) return 0;
  const runtime::CallChain chain = call_chain(pc);
  for (size_t i = 1; i < chain.count; ++i) {
    counts(chain.frames[i]);
    const Text* outer = find(chain.frames[i]);
    if (outer != nullptr && outer->has_hooks) return chain.frames[i];
  }
  return 0;
}

}  // namespace simrt::rt
