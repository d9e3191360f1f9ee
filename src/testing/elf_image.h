// The little that test discovery needs of an ELF file: is it one, and which libraries does it name.
// Reads <elf.h> structures with bounds checks; a damaged or foreign file is simply "not an image".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simrt::testing {

struct ElfImage {
  std::vector<std::string> needed;   ///< DT_NEEDED, in order
  std::vector<std::string> runpath;  ///< DT_RUNPATH entries, $ORIGIN not yet replaced
  std::vector<std::string> rpath;    ///< DT_RPATH entries
};

/// Nothing unless the bytes are a 64-bit little-endian ELF program or shared object. Pure.
std::optional<ElfImage> parse_elf(std::string_view bytes);

/// What of an ELF file the loader maps, from its beginning on: without the debug information, which is most
/// of it. The whole file where its headers do not tell. Nothing when it cannot be read or is no image.
std::optional<std::string> read_loaded_part(const std::string& path);

/// Paths of the shared objects that the dynamic linker finds for `program` through RPATH, RUNPATH and
/// `library_path` (LD_LIBRARY_PATH), transitively, in the order of the search, each once. Libraries from the
/// system's default folders are not among them, nor what dlopen() loads. Reads files; thread-safe.
std::vector<std::string> find_libraries(const std::string& program, const std::string& library_path);

}  // namespace simrt::testing
