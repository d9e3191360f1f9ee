#include "testing/elf_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace simrt::testing {
namespace {

template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.substr(offset, size);
}

std::optional<Elf64_Ehdr> header_of(std::string_view bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  return header;
}

std::string build_id_in(std::string_view notes) {
  for (std::uint64_t at = 0; at < notes.size();) {
    const auto note = read_at<Elf64_Nhdr>(notes, at);
    if (!note) break;
    const std::uint64_t name = at + sizeof(Elf64_Nhdr);
    const std::uint64_t content = name + (std::uint64_t{note->n_namesz} + 3) / 4 * 4;
    if (note->n_type == NT_GNU_BUILD_ID &&
        part(notes, name, note->n_namesz) == std::string_view("GNU\0", 4)) {
      std::string id;
      for (const char c : part(notes, content, note->n_descsz))
        id += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      return id;
    }
    at = content + (std::uint64_t{note->n_descsz} + 3) / 4 * 4;
  }
  return {};
}

std::vector<Elf64_Shdr> sections(std::string_view bytes, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> all;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) break;
    all.push_back(*section);
  }
  return all;
}

template <class Take>
void each_symbol(std::string_view bytes, std::uint32_t table, Take take) {
  const auto header = header_of(bytes);
  if (!header) return;
  const auto all = sections(bytes, *header);
  for (const Elf64_Shdr& section : all) {
    if (section.sh_type != table || section.sh_link >= all.size()) continue;
    const auto symbols = part(bytes, section.sh_offset, section.sh_size);
    const auto names = part(bytes, all[section.sh_link].sh_offset, all[section.sh_link].sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(symbols, at);
      if (!symbol || symbol->st_name >= names.size()) continue;
      const auto rest = names.substr(symbol->st_name);
      take(*symbol, rest.substr(0, rest.find('\0')));
    }
  }
}

}  // namespace

ElfLayout elf_layout(std::string_view bytes) {
  ElfLayout layout;
  const auto header = header_of(bytes);
  if (!header) return layout;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type == PT_LOAD && segment->p_memsz < UINT64_MAX - segment->p_vaddr)
      layout.end = std::max(layout.end, segment->p_vaddr + segment->p_memsz);
    if (segment->p_type == PT_NOTE && layout.build_id.empty())
      layout.build_id = build_id_in(part(bytes, segment->p_offset, segment->p_filesz));
  }
  return layout;
}

std::vector<ElfFunction> elf_functions(std::string_view bytes) {
  std::vector<ElfFunction> functions;
  for (const std::uint32_t table : {SHT_SYMTAB, SHT_DYNSYM}) {
    each_symbol(bytes, table, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
        functions.push_back({std::string(name), symbol.st_value, symbol.st_size});
    });
    if (!functions.empty()) break;
  }
  return functions;
}

bool elf_imports(std::string_view bytes, std::string_view name) {
  bool found = false;
  each_symbol(bytes, SHT_DYNSYM, [&](const Elf64_Sym& symbol, std::string_view symbol_name) {
    found |= symbol.st_shndx == SHN_UNDEF && symbol_name == name;
  });
  return found;
}

}  // namespace simrt::testing
