// Names of files below /proc/self that end in a descriptor's number, without libc and on small stacks.
#pragma once

#include <stddef.h>

namespace simrt::rt {

struct ProcName {
  ProcName(const char* folder, int fd) {
    for (; *folder != '\0'; ++folder) text[length++] = *folder;
    char digits[12];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + fd % 10);
      fd /= 10;
    } while (fd > 0);
    while (count > 0) text[length++] = digits[--count];
    text[length] = '\0';
  }
  char text[40];
  size_t length = 0;
};

}  // namespace simrt::rt
