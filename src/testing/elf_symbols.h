// What of an ELF file's layout it takes to read another tool's report: its extent, build id and functions by
// name. Bounds-checked; a damaged or foreign file has nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simrt::testing {

struct ElfLayout {
  std::uint64_t end = 0;  ///< highest link-time address of the loaded image, plus one; 0: no image
  std::string build_id;   ///< lower-case hex; empty: none
};
ElfLayout elf_layout(std::string_view bytes);

struct ElfFunction {
  std::string name;  ///< as in the symbol table (mangled)
  std::uint64_t address = 0, size = 0;
};
/// Functions with code in this file, of the full symbol table where there is one, else of the dynamic one.
std::vector<ElfFunction> elf_functions(std::string_view bytes);

/// Whether the file leaves a symbol of that name to others.
bool elf_imports(std::string_view bytes, std::string_view name);

}  // namespace simrt::testing
