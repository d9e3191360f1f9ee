// The processor-dependent part of the runtime: raw system calls and the thread pointer.
// Raw, because the program under test may define or mock open(), mmap() and friends, and because a
// hook must not touch errno.
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

namespace simrt::runtime {

/// The kernel's answer: a value, or -errno. Async-signal-safe.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "simrt's runtime knows x86-64 and AArch64 only"
#endif
}

/// Address that the static TLS offsets of the calling thread are relative to.
inline uintptr_t thread_pointer() {
  uintptr_t pointer;
#if defined(__x86_64__)
  __asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
  __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

inline void cpu_relax() {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#else
  __asm__ volatile("yield");
#endif
}

/// One aligned store that other threads, and the reader of a shared page, see whole.
template <class T>
void store_release(T& target, T value) {
  __atomic_store(&target, &value, __ATOMIC_RELEASE);
}
template <class T>
T load_acquire(const T& source) {
  T value;
  __atomic_load(&source, &value, __ATOMIC_ACQUIRE);
  return value;
}

template <class T>
bool compare_exchange(T& target, T& expected, T value) {
  return __atomic_compare_exchange(&target, &expected, &value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace simrt::runtime
