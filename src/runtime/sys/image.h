// What the process' own memory says about a loaded ELF image: where it is, what it is called.
// Reads mapped headers and /proc/self only: needs no dynamic loader, no lock, no allocation.
#pragma once

#include <link.h>
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

/// Calls visit(begin, end) for each segment of code that can be read.
template <class Visit>
void for_each_code(const void* elf_header, Visit visit) {
  Image image;
  if (!read_image(elf_header, image)) return;
  const auto* first = static_cast<const uint8_t*>(elf_header);
  const auto* header = static_cast<const ElfW(Ehdr)*>(elf_header);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(first + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto& segment = segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_X | PF_R)) != (PF_X | PF_R)) continue;
    const auto* begin = reinterpret_cast<const uint8_t*>(image.bias + segment.p_vaddr);
    visit(begin, begin + segment.p_filesz);
  }
}

/// A mapping of /proc/self/maps and the file behind it.
struct Mapping {
  uintptr_t begin = 0, end = 0;
  uint64_t file_offset = 0;
  Path path;
};

/// The mapping that holds `address`; false when there is none or no /proc.
bool find_mapping(uintptr_t address, Mapping& out);

}  // namespace simrt::runtime
