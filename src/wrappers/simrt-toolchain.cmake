# Builds a CMake project for recording, beside its ordinary build tree and without touching its sources:
#
#   cmake -B build-simrt --toolchain <prefix>/lib/.../simrt/simrt-toolchain.cmake
#
# Compiler: -DCMAKE_<LANG>_COMPILER, else $SIMRT_CC / $SIMRT_CXX, else $CC / $CXX, else CMake's own choice.
# A toolchain file of the project's: -DSIMRT_USER_TOOLCHAIN=<file> includes it first.
# -DSIMRT_STATIC=ON for projects that link with -static.
# -DSIMRT_BUILD=check (or $SIMRT_BUILD in the first run) builds for `simrt check` instead of recording: detector and
# controlled scheduling; in a build tree of its own.
# -DSIMRT_INLINE=OFF compiles in one step (slower tests, faster builds).
#
# Every C and C++ source is compiled with the coverage flags, and every program and shared object linked with the
# runtime. The flags are directory options with the compiler in a generator expression: a project that overwrites
# CMAKE_<LANG>_FLAGS or the linker flags does not lose them, and a later run of CMake in another environment cannot
# mistake the compiler. The optimisation level stays the project's; -O0 (Debug) maps best to source blocks.
# Not instrumented: what the build only imports (system libraries, prebuilt packages).

if(SIMRT_USER_TOOLCHAIN)
  include("${SIMRT_USER_TOOLCHAIN}")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES
  SIMRT_BUILD SIMRT_USER_TOOLCHAIN SIMRT_INLINE SIMRT_STATIC SIMRT_C_COMPILER SIMRT_CXX_COMPILER)

if(NOT SIMRT_BUILD)
  set(SIMRT_BUILD record)
  if(DEFINED ENV{SIMRT_BUILD} AND NOT "$ENV{SIMRT_BUILD}" STREQUAL "")
    set(SIMRT_BUILD "$ENV{SIMRT_BUILD}")
  endif()
  set(SIMRT_BUILD "${SIMRT_BUILD}" CACHE STRING "record or check")
endif()
if(NOT SIMRT_BUILD MATCHES "^(record|check)$")
  message(FATAL_ERROR "SIMRT_BUILD is '${SIMRT_BUILD}': use 'record' or 'check'")
endif()

# The environment chooses the compiler in the first run; later runs keep it.
foreach(simrt_language C CXX)
  if(simrt_language STREQUAL "C")
    set(simrt_variable CC)
  else()
    set(simrt_variable CXX)
  endif()
  if(NOT CMAKE_${simrt_language}_COMPILER)
    foreach(simrt_candidate "$ENV{SIMRT_${simrt_variable}}" "$ENV{${simrt_variable}}")
      if(simrt_candidate AND NOT SIMRT_${simrt_language}_COMPILER)
        separate_arguments(simrt_candidate)
        set(SIMRT_${simrt_language}_COMPILER "${simrt_candidate}" CACHE INTERNAL "")
      endif()
    endforeach()
    if(SIMRT_${simrt_language}_COMPILER)
      set(CMAKE_${simrt_language}_COMPILER ${SIMRT_${simrt_language}_COMPILER})
    endif()
  endif()
endforeach()

# The runtime's files are beside this one, in the build tree as well as after installation; the programs are in bin/.
set(SIMRT_RUNTIME_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}")
set(SIMRT_LAUNCHER SIMRT_LAUNCHER-NOTFOUND)
foreach(simrt_up ../bin ../../bin ../../../bin)
  get_filename_component(simrt_candidate "${CMAKE_CURRENT_LIST_DIR}/${simrt_up}/simrt-launch" ABSOLUTE)
  if(NOT SIMRT_LAUNCHER AND EXISTS "${simrt_candidate}")
    set(SIMRT_LAUNCHER "${simrt_candidate}")
  endif()
endforeach()

if(SIMRT_BUILD STREQUAL "check")
  # Not at link time: there the drivers would add ThreadSanitizer's runtime.
  foreach(simrt_language C CXX)
    add_compile_options(
      "$<$<COMPILE_LANG_AND_ID:${simrt_language},Clang>:-fsanitize=thread;-fno-omit-frame-pointer;SHELL:-mllvm -tsan-instrument-read-before-write;-g>"
      "$<$<COMPILE_LANG_AND_ID:${simrt_language},GNU>:-fsanitize=thread;-fno-omit-frame-pointer;-Wno-tsan;-g>")
  endforeach()
  add_link_options(
    "LINKER:--push-state,--no-as-needed,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_check.so,--pop-state"
    "LINKER:-rpath,${SIMRT_RUNTIME_DIRECTORY}")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON CACHE BOOL "Write compile_commands.json" FORCE)
  return()
endif()

set(simrt_clang_coverage bb,no-prune,trace-pc-guard,pc-table)
foreach(simrt_language C CXX)
  add_compile_options(
    "$<$<COMPILE_LANG_AND_ID:${simrt_language},Clang>:-fsanitize-coverage=${simrt_clang_coverage};-g>"
    "$<$<COMPILE_LANG_AND_ID:${simrt_language},GNU>:-fsanitize-coverage=trace-pc;-fno-optimize-sibling-calls;-fno-ipa-icf;-g>")
  # At link time clang would answer a coverage flag with a sanitizer runtime of its own: take it back there.
  add_link_options("$<$<LINK_LANG_AND_ID:${simrt_language},Clang>:-fno-sanitize-coverage=${simrt_clang_coverage}>")
  if(SIMRT_LAUNCHER AND (SIMRT_INLINE OR NOT DEFINED SIMRT_INLINE))
    set(simrt_others ${CMAKE_${simrt_language}_COMPILER_LAUNCHER})
    if(NOT simrt_others)
      set(simrt_others $ENV{CMAKE_${simrt_language}_COMPILER_LAUNCHER})
    endif()
    list(REMOVE_ITEM simrt_others "${SIMRT_LAUNCHER}")  # this file is read more than once
    set(CMAKE_${simrt_language}_COMPILER_LAUNCHER "${SIMRT_LAUNCHER}" ${simrt_others})
  endif()
endforeach()

if(SIMRT_STATIC)
  add_link_options(
    "LINKER:--push-state,--whole-archive,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_cover.a,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_rt.a,--no-whole-archive,--pop-state"
    "LINKER:--wrap=pthread_create,--wrap=thrd_create,--wrap=_Fork")
else()
  add_link_options(
    "LINKER:--push-state,--whole-archive,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_cover.a,--no-whole-archive,--no-as-needed,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_rt.so,--pop-state"
    "LINKER:-rpath,${SIMRT_RUNTIME_DIRECTORY}")
endif()

# `simrt record` and `simrt select` read the compile commands of this build, whatever the project says.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON CACHE BOOL "Write compile_commands.json" FORCE)
