# Builds a CMake project for recording, beside its ordinary build tree and without touching its sources:
#
#   cmake -B build-simrt --toolchain <prefix>/lib/.../simrt/simrt-toolchain.cmake
#
# Compiler: -DCMAKE_<LANG>_COMPILER, else $SIMRT_CC / $SIMRT_CXX, else $CC / $CXX, else CMake's own choice.
# A toolchain file of the project's: -DSIMRT_USER_TOOLCHAIN=<file> includes it first.
# -DSIMRT_STATIC=ON for projects that link with -static.
# -DSIMRT_INLINE=OFF compiles in one step (slower tests, faster builds; clang only).
#
# Every C and C++ source is compiled with the coverage flags, and every program and shared object linked with the
# runtime, also when the project overwrites CMAKE_<LANG>_FLAGS (so they are directory options as well).
# Not instrumented: what the build only imports (system libraries, prebuilt packages).

if(SIMRT_USER_TOOLCHAIN)
  include("${SIMRT_USER_TOOLCHAIN}")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SIMRT_USER_TOOLCHAIN SIMRT_INLINE SIMRT_STATIC)

# The runtime's files are beside this one, in the build tree as well as after installation.
set(SIMRT_RUNTIME_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}")
find_program(SIMRT_LAUNCHER simrt-launch NO_CACHE
  PATHS "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)

foreach(simrt_language C CXX)
  if(simrt_language STREQUAL "C")
    set(simrt_variable CC)
  else()
    set(simrt_variable CXX)
  endif()
  if(NOT CMAKE_${simrt_language}_COMPILER)
    foreach(simrt_candidate "$ENV{SIMRT_${simrt_variable}}" "$ENV{${simrt_variable}}")
      if(simrt_candidate AND NOT CMAKE_${simrt_language}_COMPILER)
        separate_arguments(simrt_candidate)
        set(CMAKE_${simrt_language}_COMPILER ${simrt_candidate})
      endif()
    endforeach()
  endif()
endforeach()

# The family decides the flags and has to be known before CMake looks at the compiler.
set(simrt_flags_gcc "-fsanitize-coverage=trace-pc" "-fno-optimize-sibling-calls")
set(simrt_flags_clang "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table")
foreach(simrt_language C CXX)
  set(simrt_compiler ${CMAKE_${simrt_language}_COMPILER})
  if(NOT simrt_compiler)  # CMake's first choice
    if(simrt_language STREQUAL "C")
      set(simrt_compiler cc)
    else()
      set(simrt_compiler c++)
    endif()
  endif()
  list(GET simrt_compiler -1 simrt_compiler)
  execute_process(COMMAND ${simrt_compiler} --version OUTPUT_VARIABLE simrt_version ERROR_QUIET RESULT_VARIABLE simrt_result)
  if(simrt_version MATCHES "clang")
    set(simrt_flags ${simrt_flags_clang})
  else()
    set(simrt_flags ${simrt_flags_gcc})
  endif()
  set(SIMRT_${simrt_language}_FLAGS ${simrt_flags} -g)
  list(JOIN SIMRT_${simrt_language}_FLAGS " " CMAKE_${simrt_language}_FLAGS_INIT)
  if(NOT DEFINED SIMRT_INLINE OR SIMRT_INLINE)
    if(simrt_version MATCHES "clang" AND SIMRT_LAUNCHER)
      set(simrt_others ${CMAKE_${simrt_language}_COMPILER_LAUNCHER})
      if(NOT simrt_others)
        set(simrt_others $ENV{CMAKE_${simrt_language}_COMPILER_LAUNCHER})
      endif()
      list(REMOVE_ITEM simrt_others "${SIMRT_LAUNCHER}")  # this file is read more than once
      set(CMAKE_${simrt_language}_COMPILER_LAUNCHER ${SIMRT_LAUNCHER} ${simrt_others})
    endif()
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:${simrt_language}>:${SIMRT_${simrt_language}_FLAGS}>")
endforeach()

# At link time clang would answer a coverage flag with a sanitizer runtime of its own: take it back there.
set(simrt_clang_links "$<OR:$<LINK_LANG_AND_ID:C,Clang>,$<LINK_LANG_AND_ID:CXX,Clang>>")
add_link_options("$<${simrt_clang_links}:-fno-sanitize-coverage=bb,no-prune,trace-pc-guard,pc-table>")
if(SIMRT_STATIC)
  add_link_options(
    "LINKER:--push-state,--whole-archive,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_cover.a,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_rt.a,--no-whole-archive,--pop-state"
    "LINKER:--wrap=pthread_create,--wrap=thrd_create,--wrap=_Fork")
else()
  add_link_options(
    "LINKER:--push-state,--whole-archive,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_cover.a,--no-whole-archive,--no-as-needed,${SIMRT_RUNTIME_DIRECTORY}/libsimrt_rt.so,--pop-state"
    "LINKER:-rpath,${SIMRT_RUNTIME_DIRECTORY}")
endif()

# `simrt record` and `simrt select` read the compile commands from this build.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON CACHE BOOL "Write compile_commands.json" )
