#include "emit/run_modules.h"

#include <elf.h>
#include <link.h>

#include <new>

#include "emit/run_file.h"
#include "sys/arch.h"
#include "sys/image.h"
#include "sys/memory.h"

namespace simrt::rt {
namespace {

constexpr uint32_t kMaxModules = 1024;
LoadedModule* modules[kMaxModules];
uint32_t count = 0;

bool is_known(uintptr_t bias, uintptr_t begin) {
  for (uint32_t i = 0; i < count; ++i)
    if (modules[i]->bias == bias && modules[i]->begin == begin) return true;
  return false;
}

uintptr_t header_address(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) return info.dlpi_addr + segment.p_vaddr;
  }
  return 0;
}

void write_record(const LoadedModule& module) {
  const size_t names = module.path.size + module.build_id_bytes;
  run_file.append<format::RunModule>(names, [&](format::RunModule& record) {
    record.index = module.index;
    record.path_bytes = static_cast<uint32_t>(module.path.size);
    record.build_id_bytes = module.build_id_bytes;
    record.executable = module.executable ? 1 : 0;
    record.load_bias = module.bias;
    record.begin = module.begin;
    record.end = module.end;
    char* out = items_of<char>(&record);
    for (size_t i = 0; i < module.path.size; ++i) out[i] = module.path.text[i];
    for (size_t i = 0; i < module.build_id_bytes; ++i)
      out[module.path.size + i] = static_cast<char>(module.build_id[i]);
  });
}

// The loader's names may be relative, links (libx.so.1) or, for the program, empty; the mapping has the one
// name that a file has. What a plan says of a module is matched with it.
void name_module(LoadedModule& module, const dl_phdr_info& info, uintptr_t header) {
  static runtime::Mapping mapping;
  if (runtime::find_mapping(header, mapping) && mapping.path.size > 0) {
    module.path = mapping.path;
  } else if (info.dlpi_name != nullptr && info.dlpi_name[0] == '/') {
    module.path.append(info.dlpi_name);
  }
}

int visit(dl_phdr_info* info, size_t, void*) {
  const uintptr_t header = header_address(*info);
  runtime::Image image;
  if (header == 0 || count == kMaxModules ||
      !runtime::read_image(reinterpret_cast<const void*>(header), image))
    return 0;
  if (is_known(image.bias, image.begin)) return 0;
  void* memory = runtime::allocate(sizeof(LoadedModule));
  if (memory == nullptr) return 1;
  auto* module = new (memory) LoadedModule();
  module->executable = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
  module->bias = image.bias;
  module->begin = image.begin;
  module->end = image.end;
  module->text_begin = image.text_begin;
  module->text_end = image.text_end;
  module->build_id = image.build_id;
  module->build_id_bytes = image.build_id_bytes;
  name_module(*module, *info, header);
  if (module->path.size == 0 && !module->executable) return 0;  // the kernel's vdso
  module->index = count;
  modules[count] = module;
  write_record(*module);
  __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
  return 0;
}

bool has_part(const char* text, const char* part) {
  const size_t n = runtime::length(part);
  for (; *text != '\0'; ++text) {
    size_t i = 0;
    while (i < n && text[i] == part[i]) ++i;
    if (i == n) return true;
  }
  return false;
}

bool same_build_id(const LoadedModule& module, const char* id, uint32_t bytes) {
  return module.build_id_bytes == bytes &&
         runtime::equal(reinterpret_cast<const char*>(module.build_id), id, bytes);
}

}  // namespace

void refresh_modules() { dl_iterate_phdr(&visit, nullptr); }

uint32_t module_count() { return __atomic_load_n(&count, __ATOMIC_ACQUIRE); }
const LoadedModule& module_at(uint32_t index) { return *modules[index]; }

const LoadedModule* module_of(uintptr_t address) {
  const uint32_t n = module_count();
  for (uint32_t i = 0; i < n; ++i)
    if (address >= modules[i]->begin && address < modules[i]->end) return modules[i];
  return nullptr;
}

bool is_cxx_library(const char* path) {
  return has_part(path, "/libstdc++.so") || has_part(path, "/libc++.so");
}

bool is_system_library(const char* path) {
  constexpr const char* kParts[] = {"/libc.so", "/libc-2.", "/ld-linux",   "/ld-2.",
                                    "/libm.so", "/libm-2.", "/libgcc_s.so"};
  for (const char* part : kParts)
    if (has_part(path, part)) return true;
  return is_cxx_library(path);
}

const LoadedModule* module_named(const format::PlanModule& record, const char* names) {
  const char* id = names + record.path_bytes;
  const uint32_t n = module_count();
  for (uint32_t i = 0; i < n; ++i) {
    const LoadedModule& module = *modules[i];
    if (record.build_id_bytes > 0 && module.build_id_bytes > 0) {
      if (same_build_id(module, id, record.build_id_bytes)) return &module;
    } else if (record.path_bytes > 0) {
      if (module.path.size == record.path_bytes && runtime::equal(module.path.text, names, record.path_bytes))
        return &module;
    } else if (module.executable) {
      return &module;
    }
  }
  return nullptr;
}

}  // namespace simrt::rt
