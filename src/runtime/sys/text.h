// Bounded strings without libc: file names and numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace simrt::runtime {

inline size_t length(const char* text) {
  size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

inline bool equal(const char* a, const char* b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

/// A NUL-terminated path under construction; `ok` turns false when it does not fit.
struct Path {
  char text[4096] = {};
  size_t size = 0;
  bool ok = true;

  void append(const char* part, size_t n) {
    if (size + n >= sizeof text) {
      ok = false;
      return;
    }
    for (size_t i = 0; i < n; ++i) text[size + i] = part[i];
    size += n;
    text[size] = '\0';
  }
  void append(const char* part) { append(part, length(part)); }
  void append(uint64_t number) {
    char digits[20];
    size_t n = 0;
    do {
      digits[n++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (n > 0) append(&digits[--n], 1);
  }
};

/// Decimal, or false when `text` is anything else.
inline bool parse_number(const char* text, uint64_t& out) {
  if (text == nullptr || *text == '\0') return false;
  uint64_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || value > UINT64_MAX / 10 - 1) return false;
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  }
  out = value;
  return true;
}

}  // namespace simrt::runtime
