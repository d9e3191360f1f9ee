#include "sys/image.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include "sys/arch.h"

namespace simrt::runtime {
namespace {

void read_notes(const char* note, const char* end, Image& out) {
  while (end - note >= static_cast<long>(sizeof(ElfW(Nhdr)))) {
    const auto* header = reinterpret_cast<const ElfW(Nhdr)*>(note);
    const char* name = note + sizeof *header;
    const char* data = name + ((header->n_namesz + 3u) & ~3u);
    const char* next = data + ((header->n_descsz + 3u) & ~3u);
    if (next > end || next <= note) return;
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && equal(name, "GNU", 4)) {
      out.build_id = reinterpret_cast<const unsigned char*>(data);
      out.build_id_bytes = header->n_descsz;
    }
    note = next;
  }
}

void widen(uintptr_t begin, uintptr_t end, uintptr_t& range_begin, uintptr_t& range_end) {
  if (range_end == 0 || begin < range_begin) range_begin = begin;
  if (end > range_end) range_end = end;
}

bool parse_hex(const char*& text, uint64_t& out) {
  const char* start = text;
  out = 0;
  for (;; ++text) {
    const char c = *text;
    if (c >= '0' && c <= '9') {
      out = out * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      out = out * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return text != start;
    }
  }
}

// "begin-end perms offset dev inode   path"
bool parse_mapping(const char* line, uintptr_t address, Mapping& out) {
  uint64_t begin = 0, end = 0, offset = 0;
  if (!parse_hex(line, begin) || *line++ != '-' || !parse_hex(line, end)) return false;
  if (address < begin || address >= end) return false;
  for (int field = 0; field < 4; ++field) {  // perms, offset, device, inode
    while (*line == ' ') ++line;
    if (field == 1 && !parse_hex(line, offset)) return false;
    while (*line != ' ' && *line != '\0') ++line;
  }
  while (*line == ' ') ++line;
  out.begin = begin;
  out.end = end;
  out.file_offset = offset;
  size_t n = length(line);
  constexpr char kDeleted[] = " (deleted)";
  constexpr size_t kDeletedLength = sizeof kDeleted - 1;
  if (n > kDeletedLength && equal(line + n - kDeletedLength, kDeleted, kDeletedLength)) n -= kDeletedLength;
  out.path = Path{};
  if (line[0] == '/') out.path.append(line, n);
  return true;
}

}  // namespace

bool read_image(const void* elf_header, Image& out) {
  const auto* header = static_cast<const ElfW(Ehdr)*>(elf_header);
  if (header == nullptr || !equal(reinterpret_cast<const char*>(header->e_ident), ELFMAG, SELFMAG))
    return false;
  const auto* segments =
      reinterpret_cast<const ElfW(Phdr)*>(static_cast<const char*>(elf_header) + header->e_phoff);
  bool has_bias = false;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
      out.bias = reinterpret_cast<uintptr_t>(elf_header) - segments[i].p_vaddr;
      has_bias = true;
    }
  }
  if (!has_bias) return false;
  out.executable = header->e_type == ET_EXEC;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto& segment = segments[i];
    const uintptr_t begin = out.bias + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type == PT_INTERP) out.executable = true;
    if (segment.p_type == PT_NOTE) {
      read_notes(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end), out);
    }
    if (segment.p_type != PT_LOAD) continue;
    widen(begin, end, out.begin, out.end);
    if ((segment.p_flags & PF_X) != 0) widen(begin, end, out.text_begin, out.text_end);
  }
  return true;
}

bool find_mapping(uintptr_t address, Mapping& out) {
  const long fd =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char line[4200];
  size_t used = 0;
  bool found = false;
  char block[2048];
  long n = 0;
  while (!found && (n = raw_syscall(SYS_read, fd, reinterpret_cast<long>(block), sizeof block)) > 0) {
    for (long i = 0; i < n && !found; ++i) {
      if (block[i] != '\n') {
        if (used + 1 < sizeof line) line[used++] = block[i];
        continue;
      }
      line[used] = '\0';
      used = 0;
      found = parse_mapping(line, address, out);
    }
  }
  raw_syscall(SYS_close, fd);
  return found;
}

}  // namespace simrt::runtime
