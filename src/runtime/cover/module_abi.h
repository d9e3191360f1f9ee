// The contract between libsimrt_cover.a, which is linked into every instrumented executable and shared
// object, and libsimrt_rt, of which a process has one. The entry points carry the version in their names:
// objects that were linked against another version fail at link or load time, aloud.
#pragma once

#include <stdint.h>

/// One module's half. Lives in the module's data; `state` and below belong to libsimrt_rt.
struct simrt_module {
  uint32_t kind;  // format::ModuleKind
  uint32_t reserved;
  const void* elf_header;        // __ehdr_start of the module
  const uint32_t* guards_begin;  // Guards: the guard section. Its bytes also take the hits of threads that
  const uint32_t* guards_end;    // have no map yet (the map pointer 0 points every hit at its own guard)
  const uintptr_t* table_begin;  // Guards: {pc, flags} a guard
  const uintptr_t* table_end;
  const void* hook;     // CallSites: the address that instrumented code calls
  intptr_t map_offset;  // thread pointer + map_offset = this module's map pointer of a thread
  uint8_t* shared_map;  // CallSites: where hits of threads without a map go; null = nowhere
  void* state;          // libsimrt_rt's own record; null = never opened
  uint32_t closed;      // the module is being unloaded
};

extern "C" {
/// Announces a module. Idempotent, async-signal-safe.
void simrt_module_open_1(simrt_module* module);
/// The module's code is about to be unmapped (dlclose), or the process exits.
void simrt_module_close_1(simrt_module* module);
}
