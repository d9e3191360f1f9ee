// libc functions that touch the program's memory. g++ leaves memcpy, memmove and memset calls as they are;
// clang calls __tsan_* instead.
#include <string.h>
#include <strings.h>

#include "hooks/abi.h"
#include "intercept/check/counted.h"
#include "intercept/real.h"

#define SIMRT_PC SIMRT_RETURN_ADDRESS

using simrt::rt::reads;
using simrt::rt::tell;
using simrt::rt::tells;
using simrt::rt::writes;

namespace {

using Copy = void* (*)(void*, const void*, size_t);
using Fill = void* (*)(void*, int, size_t);

// dlsym itself, or a constructor before relocation is done, may come here: then a loop does.
template <class Function>
struct Lazy {
  const char* name;
  Function function;
  bool resolving;

  Function get() {
    Function f = __atomic_load_n(&function, __ATOMIC_ACQUIRE);
    if (f != nullptr) [[likely]]
      return f;
    if (__atomic_exchange_n(&resolving, true, __ATOMIC_ACQ_REL)) return nullptr;
    f = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&function, f, __ATOMIC_RELEASE);
    __atomic_store_n(&resolving, false, __ATOMIC_RELEASE);
    return f;
  }
};

constinit Lazy<Copy> real_memcpy = {"memcpy", nullptr, false};
constinit Lazy<Copy> real_memmove = {"memmove", nullptr, false};
constinit Lazy<Fill> real_memset = {"memset", nullptr, false};

void* copy_by_hand(void* to, const void* from, size_t n) {
  auto* t = static_cast<volatile char*>(to);
  auto* f = static_cast<const volatile char*>(from);
  if (t <= f) {
    for (size_t i = 0; i < n; ++i) t[i] = f[i];
  } else {
    while (n-- > 0) t[n] = f[n];
  }
  return to;
}

void* copy(Lazy<Copy>& real, void* to, const void* from, size_t n, uintptr_t pc) {
  if (tells(pc)) {
    tell(from, n, false, pc);
    tell(to, n, true, pc);
  }
  const Copy f = real.get();
  return f != nullptr ? f(to, from, n) : copy_by_hand(to, from, n);
}

void* fill(void* to, int value, size_t n, uintptr_t pc) {
  writes(to, n, pc);
  if (const Fill f = real_memset.get()) return f(to, value, n);
  auto* t = static_cast<volatile char*>(to);
  for (size_t i = 0; i < n; ++i) t[i] = static_cast<char>(value);
  return to;
}

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Bytes that a bounded string function reads: up to and with the terminator.
size_t bounded(const char* text, size_t n) {
  const size_t length = SIMRT_REAL(strnlen)(text, n);
  return length < n ? length + 1 : n;
}
size_t whole(const char* text) { return SIMRT_REAL(strlen)(text) + 1; }

// How far a comparison looks: to the first difference or terminator.
template <class Fold>
size_t compared(const char* a, const char* b, size_t n, Fold fold) {
  size_t i = 0;
  while (i < n && fold(a[i]) == fold(b[i]) && a[i] != '\0') ++i;
  return smaller(i + 1, n);
}
char same(char c) { return c; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

extern "C" {

SIMRT_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t n) {
  return copy(real_memcpy, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* __tsan_memmove(void* to, const void* from, size_t n) {
  return copy(real_memmove, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* __tsan_memset(void* to, int value, size_t n) { return fill(to, value, n, SIMRT_PC); }

SIMRT_EXPORT void* memcpy(void* to, const void* from, size_t n) noexcept {
  return copy(real_memcpy, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* memmove(void* to, const void* from, size_t n) noexcept {
  return copy(real_memmove, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* memset(void* to, int value, size_t n) noexcept { return fill(to, value, n, SIMRT_PC); }
SIMRT_EXPORT void* mempcpy(void* to, const void* from, size_t n) noexcept {
  return static_cast<char*>(copy(real_memcpy, to, from, n, SIMRT_PC)) + n;
}

// _FORTIFY_SOURCE
SIMRT_EXPORT void* __memcpy_chk(void* to, const void* from, size_t n, size_t room) {
  if (n > room) __builtin_trap();
  return copy(real_memcpy, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* __memmove_chk(void* to, const void* from, size_t n, size_t room) {
  if (n > room) __builtin_trap();
  return copy(real_memmove, to, from, n, SIMRT_PC);
}
SIMRT_EXPORT void* __memset_chk(void* to, int value, size_t n, size_t room) {
  if (n > room) __builtin_trap();
  return fill(to, value, n, SIMRT_PC);
}

SIMRT_EXPORT int memcmp(const void* a, const void* b, size_t n) noexcept {
  reads(a, n, SIMRT_PC);
  reads(b, n, SIMRT_PC);
  return SIMRT_REAL(memcmp)(a, b, n);
}
SIMRT_EXPORT int bcmp(const void* a, const void* b, size_t n) noexcept {
  reads(a, n, SIMRT_PC);
  reads(b, n, SIMRT_PC);
  return SIMRT_REAL(bcmp)(a, b, n);
}
SIMRT_EXPORT size_t strlen(const char* text) noexcept {
  const size_t n = SIMRT_REAL(strlen)(text);
  reads(text, n + 1, SIMRT_PC);
  return n;
}
SIMRT_EXPORT size_t strnlen(const char* text, size_t most) noexcept {
  const size_t n = SIMRT_REAL(strnlen)(text, most);
  reads(text, smaller(n + 1, most), SIMRT_PC);
  return n;
}
SIMRT_EXPORT char* strcpy(char* to, const char* from) noexcept {
  const size_t n = whole(from);
  reads(from, n, SIMRT_PC);
  writes(to, n, SIMRT_PC);
  return SIMRT_REAL(strcpy)(to, from);
}
SIMRT_EXPORT char* stpcpy(char* to, const char* from) noexcept {
  const size_t n = whole(from);
  reads(from, n, SIMRT_PC);
  writes(to, n, SIMRT_PC);
  return SIMRT_REAL(stpcpy)(to, from);
}
SIMRT_EXPORT char* strncpy(char* to, const char* from, size_t n) noexcept {
  reads(from, bounded(from, n), SIMRT_PC);
  writes(to, n, SIMRT_PC);
  return SIMRT_REAL(strncpy)(to, from, n);
}
SIMRT_EXPORT char* strcat(char* to, const char* from) noexcept {
  const size_t before = whole(to), n = whole(from);
  reads(to, before, SIMRT_PC);
  reads(from, n, SIMRT_PC);
  writes(to + before - 1, n, SIMRT_PC);
  return SIMRT_REAL(strcat)(to, from);
}
SIMRT_EXPORT char* strncat(char* to, const char* from, size_t most) noexcept {
  const size_t before = whole(to), n = bounded(from, most);
  reads(to, before, SIMRT_PC);
  reads(from, n, SIMRT_PC);
  writes(to + before - 1, n, SIMRT_PC);
  return SIMRT_REAL(strncat)(to, from, most);
}
SIMRT_EXPORT int strcmp(const char* a, const char* b) noexcept {
  if (simrt::rt::detecting()) {
    const size_t n = compared(a, b, SIZE_MAX, same);
    reads(a, n, SIMRT_PC);
    reads(b, n, SIMRT_PC);
  }
  return SIMRT_REAL(strcmp)(a, b);
}
SIMRT_EXPORT int strncmp(const char* a, const char* b, size_t most) noexcept {
  if (simrt::rt::detecting()) {
    const size_t n = compared(a, b, most, same);
    reads(a, n, SIMRT_PC);
    reads(b, n, SIMRT_PC);
  }
  return SIMRT_REAL(strncmp)(a, b, most);
}
SIMRT_EXPORT int strcasecmp(const char* a, const char* b) noexcept {
  if (simrt::rt::detecting()) {
    const size_t n = compared(a, b, SIZE_MAX, lower);
    reads(a, n, SIMRT_PC);
    reads(b, n, SIMRT_PC);
  }
  return SIMRT_REAL(strcasecmp)(a, b);
}
SIMRT_EXPORT char* strdup(const char* text) noexcept {
  reads(text, whole(text), SIMRT_PC);
  return SIMRT_REAL(strdup)(text);
}
SIMRT_EXPORT char* strndup(const char* text, size_t most) noexcept {
  reads(text, bounded(text, most), SIMRT_PC);
  return SIMRT_REAL(strndup)(text, most);
}
}
