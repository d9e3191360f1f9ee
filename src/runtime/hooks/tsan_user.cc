// ThreadSanitizer's interface for programs (sanitizer/tsan_interface.h and the older dynamic annotations):
// code that describes its own synchronisation keeps being understood.
#include "detect/detector.h"
#include "detect/thread.h"
#include "hooks/abi.h"

using namespace simrt::rt;
using detect::LockMode;

namespace {

// tsan_interface.h
constexpr unsigned kReadLock = 1u << 3, kTryLock = 1u << 4, kTryLockFailed = 1u << 5;

uintptr_t number(const volatile void* p) { return reinterpret_cast<uintptr_t>(p); }
LockMode mode_of(unsigned flags) { return (flags & kReadLock) != 0 ? LockMode::Shared : LockMode::Exclusive; }

void ignore(int change) {
  if (detect::self != nullptr) detect::self->ignored += change;
}

char fiber;  // there is one: switching stacks changes no order between threads

}  // namespace

extern "C" {

SIMRT_HOOK void __tsan_acquire(void* address) { detect::acquired(number(address)); }
SIMRT_HOOK void __tsan_release(void* address) { detect::released(number(address)); }

SIMRT_HOOK void __tsan_mutex_create(void*, unsigned) {}
SIMRT_HOOK void __tsan_mutex_destroy(void* mutex, unsigned) { detect::lock_destroyed(number(mutex)); }
SIMRT_HOOK void __tsan_mutex_pre_lock(void* mutex, unsigned flags) {
  if ((flags & kTryLock) == 0) detect::lock_requested(number(mutex), mode_of(flags), SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void __tsan_mutex_post_lock(void* mutex, unsigned flags, int) {
  if ((flags & kTryLockFailed) != 0) return;
  detect::lock_acquired(number(mutex), mode_of(flags), (flags & kTryLock) != 0, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK int __tsan_mutex_pre_unlock(void* mutex, unsigned flags) {
  detect::lock_released(number(mutex), mode_of(flags), SIMRT_RETURN_ADDRESS);
  return 1;
}
SIMRT_HOOK void __tsan_mutex_post_unlock(void*, unsigned) {}
SIMRT_HOOK void __tsan_mutex_pre_signal(void* address, unsigned) { detect::released(number(address)); }
SIMRT_HOOK void __tsan_mutex_post_signal(void* address, unsigned) { detect::acquired(number(address)); }
SIMRT_HOOK void __tsan_mutex_pre_divert(void*, unsigned) {}
SIMRT_HOOK void __tsan_mutex_post_divert(void*, unsigned) {}

SIMRT_HOOK void __tsan_ignore_thread_begin() { ignore(1); }
SIMRT_HOOK void __tsan_ignore_thread_end() { ignore(-1); }

SIMRT_HOOK void* __tsan_get_current_fiber() { return &fiber; }
SIMRT_HOOK void* __tsan_create_fiber(unsigned) { return &fiber; }
SIMRT_HOOK void __tsan_destroy_fiber(void*) {}
SIMRT_HOOK void __tsan_switch_to_fiber(void*, unsigned) {}
SIMRT_HOOK void __tsan_set_fiber_name(void*, const char*) {}

SIMRT_HOOK void* __tsan_external_register_tag(const char*) { return &fiber; }
SIMRT_HOOK void __tsan_external_register_header(void*, const char*) {}
SIMRT_HOOK void __tsan_external_assign_tag(void*, void*) {}
SIMRT_HOOK void __tsan_external_read(void* address, void*, void*) {
  detect::access(number(address), 1, false, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void __tsan_external_write(void* address, void*, void*) {
  detect::access(number(address), 1, true, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void __tsan_flush_memory() {}

SIMRT_HOOK void AnnotateHappensBefore(const char*, int, const volatile void* p) {
  detect::released(number(p));
}
SIMRT_HOOK void AnnotateHappensAfter(const char*, int, const volatile void* p) {
  detect::acquired(number(p));
}
SIMRT_HOOK void AnnotateCondVarSignal(const char*, int, const volatile void* p) {
  detect::released(number(p));
}
SIMRT_HOOK void AnnotateCondVarSignalAll(const char*, int, const volatile void* p) {
  detect::released(number(p));
}
SIMRT_HOOK void AnnotateCondVarWait(const char*, int, const volatile void* p, const volatile void*) {
  detect::acquired(number(p));
}
SIMRT_HOOK void AnnotateMutexIsNotPHB(const char*, int, const volatile void*) {}
SIMRT_HOOK void AnnotateMutexIsUsedAsCondVar(const char*, int, const volatile void*) {}
SIMRT_HOOK void AnnotateRWLockCreate(const char*, int, const volatile void*) {}
SIMRT_HOOK void AnnotateRWLockCreateStatic(const char*, int, const volatile void*) {}
SIMRT_HOOK void AnnotateRWLockDestroy(const char*, int, const volatile void* p) {
  detect::lock_destroyed(number(p));
}
SIMRT_HOOK void AnnotateRWLockAcquired(const char*, int, const volatile void* p, long write) {
  detect::lock_acquired(number(p), write != 0 ? LockMode::Exclusive : LockMode::Shared, false,
                        SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void AnnotateRWLockReleased(const char*, int, const volatile void* p, long write) {
  detect::lock_released(number(p), write != 0 ? LockMode::Exclusive : LockMode::Shared, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void AnnotateNewMemory(const char*, int, const volatile void* p, size_t size) {
  detect::allocated(number(p), size, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void AnnotateBenignRace(const char*, int, const volatile void*, const char*) {}
SIMRT_HOOK void AnnotateBenignRaceSized(const char*, int, const volatile void*, size_t, const char*) {}
SIMRT_HOOK void AnnotateIgnoreReadsBegin(const char*, int) { ignore(1); }
SIMRT_HOOK void AnnotateIgnoreReadsEnd(const char*, int) { ignore(-1); }
SIMRT_HOOK void AnnotateIgnoreWritesBegin(const char*, int) { ignore(1); }
SIMRT_HOOK void AnnotateIgnoreWritesEnd(const char*, int) { ignore(-1); }
SIMRT_HOOK void AnnotateIgnoreSyncBegin(const char*, int) {}
SIMRT_HOOK void AnnotateIgnoreSyncEnd(const char*, int) {}
SIMRT_HOOK void AnnotateFlushState(const char*, int) {}
SIMRT_HOOK void AnnotateThreadName(const char*, int, const char*) {}
SIMRT_HOOK void AnnotateEnableRaceDetection(const char*, int, int) {}
SIMRT_HOOK void AnnotateExpectRace(const char*, int, const volatile void*, const char*) {}
}
