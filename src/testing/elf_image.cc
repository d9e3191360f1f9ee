// See elf_image.h; the search order is that of ld.so(8).
#include "testing/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>

#include "support/files.h"

namespace simrt::testing {
namespace {

/// A structure at an offset, copied (the bytes need not be aligned); nothing beyond the end.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string string_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (colon != 0) parts.emplace_back(list.substr(0, colon));
    if (colon == std::string_view::npos) break;
    list.remove_prefix(colon + 1);
  }
  return parts;
}

std::vector<Elf64_Phdr> segments(std::string_view bytes, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> result;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) break;
    result.push_back(*segment);
  }
  return result;
}

/// File offset of an address of the loaded image.
std::uint64_t file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return UINT64_MAX;
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Folders of a RPATH or RUNPATH with $ORIGIN replaced.
std::vector<std::string> expand(const std::vector<std::string>& folders, const std::string& object) {
  const std::string origin = std::filesystem::path(object).parent_path().string();
  std::vector<std::string> result = folders;
  for (std::string& folder : result) {
    replace_all(folder, "${ORIGIN}", origin);
    replace_all(folder, "$ORIGIN", origin);
  }
  return result;
}

std::optional<ElfImage> load(const std::string& path) {
  const auto bytes = read_loaded_part(path);
  return bytes ? parse_elf(*bytes) : std::nullopt;
}

std::optional<Elf64_Ehdr> header_of(std::string_view bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      (header->e_type != ET_EXEC && header->e_type != ET_DYN)) {
    return std::nullopt;
  }
  return header;
}

std::string find_in(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    const std::string candidate = folder + "/" + name;
    if (is_file(candidate)) return canonical_path(candidate);
  }
  return {};
}

}  // namespace

std::optional<ElfImage> parse_elf(std::string_view bytes) {
  const auto header = header_of(bytes);
  if (!header) return std::nullopt;
  ElfImage image;
  const std::vector<Elf64_Phdr> all = segments(bytes, *header);
  for (const Elf64_Phdr& segment : all) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<Elf64_Dyn> entries;
    std::uint64_t strings = UINT64_MAX;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = read_at<Elf64_Dyn>(bytes, segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_STRTAB) strings = file_offset(all, entry->d_un.d_ptr);
      entries.push_back(*entry);
    }
    if (strings >= bytes.size()) continue;
    for (const Elf64_Dyn& entry : entries) {
      const auto text = [&] { return string_at(bytes.substr(strings), entry.d_un.d_val); };
      if (entry.d_tag == DT_NEEDED) image.needed.push_back(text());
      if (entry.d_tag == DT_RUNPATH) image.runpath = split(text());
      if (entry.d_tag == DT_RPATH) image.rpath = split(text());
    }
  }
  return image;
}

std::optional<std::string> read_loaded_part(const std::string& path) {
  constexpr std::uint64_t kHeaders = 4096;
  auto bytes = read_file(path, kHeaders);
  const auto header = bytes ? header_of(*bytes) : std::nullopt;
  if (!header) return std::nullopt;
  std::uint64_t end = 0;
  const std::vector<Elf64_Phdr> all = segments(*bytes, *header);
  for (const Elf64_Phdr& segment : all)
    if (segment.p_filesz <= UINT64_MAX - segment.p_offset)
      end = std::max<std::uint64_t>(end, segment.p_offset + segment.p_filesz);
  bytes = read_file(path, all.size() == header->e_phnum && end > 0 ? end : UINT64_MAX);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::vector<std::string> find_libraries(const std::string& program, const std::string& library_path) {
  struct Object {
    std::string path;
    std::vector<std::string> inherited;  ///< RPATHs of those that loaded it
  };
  const std::vector<std::string> from_environment = split(library_path);
  std::vector<std::string> found;
  std::set<std::string> seen;
  std::deque<Object> queue = {{program, {}}};
  while (!queue.empty()) {
    const Object object = queue.front();
    queue.pop_front();
    const auto image = load(object.path);
    if (!image) continue;
    std::vector<std::string> rpath =
        image->runpath.empty() ? expand(image->rpath, object.path) : std::vector<std::string>();
    rpath.insert(rpath.end(), object.inherited.begin(), object.inherited.end());
    std::vector<std::string> folders = image->runpath.empty() ? rpath : std::vector<std::string>();
    folders.insert(folders.end(), from_environment.begin(), from_environment.end());
    const std::vector<std::string> runpath = expand(image->runpath, object.path);
    folders.insert(folders.end(), runpath.begin(), runpath.end());
    for (const std::string& name : image->needed) {
      const std::string library =
          name.find('/') != std::string::npos ? canonical_path(name) : find_in(folders, name);
      if (library.empty() || !seen.insert(library).second) continue;
      found.push_back(library);
      queue.push_back({library, rpath});
    }
  }
  return found;
}

}  // namespace simrt::testing
