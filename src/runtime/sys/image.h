// What the process' own memory says about a loaded ELF image: where it is, what it is called.
// Reads mapped headers and /proc/self only: needs no dynamic loader, no lock, no allocation.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sys/text.h"

namespace simrt::runtime {

struct Image {
  uintptr_t bias = 0;                       // run-time address = bias + ELF virtual address
  uintptr_t begin = 0, end = 0;             // run-time range of all segments
  uintptr_t text_begin = 0, text_end = 0;   // run-time range of the executable segments
  const unsigned char* build_id = nullptr;  // null when the image has none
  uint32_t build_id_bytes = 0;
  bool executable = false;  // the main program, not a shared object
};

/// False when `elf_header` is no mapped ELF header of this machine's word size.
bool read_image(const void* elf_header, Image& out);

/// A mapping of /proc/self/maps and the file behind it.
struct Mapping {
  uintptr_t begin = 0, end = 0;
  uint64_t file_offset = 0;
  Path path;
};

/// The mapping that holds `address`; false when there is none or no /proc.
bool find_mapping(uintptr_t address, Mapping& out);

}  // namespace simrt::runtime
