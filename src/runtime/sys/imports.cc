#include "sys/imports.h"

#include <elf.h>

namespace simrt::runtime {

Imports::Imports(const dl_phdr_info& info) : bias_(info.dlpi_addr) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(bias_ + info.dlpi_phdr[i].p_vaddr);
  }
  if (dynamic == nullptr) return;
  // glibc has relocated these pointers in place, but not in the vDSO.
  const auto address = [&](uint64_t value) { return value < bias_ ? bias_ + value : value; };
  bool rela = true;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const uint64_t value = dynamic->d_un.d_val;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(address(value));
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(address(value));
        break;
      case DT_JMPREL:
        jump_slots_ = reinterpret_cast<const ElfW(Rela)*>(address(value));
        break;
      case DT_PLTRELSZ:
        jump_slots_bytes_ = value;
        break;
      case DT_RELA:
        relocations_ = reinterpret_cast<const ElfW(Rela)*>(address(value));
        break;
      case DT_RELASZ:
        relocations_bytes_ = value;
        break;
      case DT_PLTREL:
        rela = value == DT_RELA;
        break;
      default:
        break;
    }
  }
  if (!rela) jump_slots_ = nullptr;
}

}  // namespace simrt::runtime
