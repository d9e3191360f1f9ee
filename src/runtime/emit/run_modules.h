// The loaded modules as the run file lists them: run-time addresses to module and offset, and back.
// Refreshed from the dynamic loader's list; lookups take no lock and may run beside a refresh.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simrt/format/plan.h"
#include "simrt/format/run.h"
#include "sys/text.h"

namespace simrt::rt {

struct LoadedModule {
  uint32_t index = 0;  // RunModule::index
  bool executable = false;
  uintptr_t bias = 0, begin = 0, end = 0, text_begin = 0, text_end = 0;
  const unsigned char* build_id = nullptr;
  uint32_t build_id_bytes = 0;
  runtime::Path path;
};

/// Reads the loader's list and writes a RunModule for every module that is new. At start and behind dlopen.
void refresh_modules();

uint32_t module_count();
const LoadedModule& module_at(uint32_t index);
/// Null when no known module covers the address.
const LoadedModule* module_of(uintptr_t address);
/// By its path: the C++ library, whose out-of-line functions (std::string) work on the program's data.
bool is_cxx_library(const char* path);
/// The C library with its loader, the C++ library, and what the compiler adds.
bool is_system_library(const char* path);
/// The module that a PlanModule names; null when it is not loaded (yet). `names` is the record's payload.
const LoadedModule* module_named(const format::PlanModule& record, const char* names);

}  // namespace simrt::rt
