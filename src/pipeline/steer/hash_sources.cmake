# Writes strategy_identity.cc with a hash of the C++ sources in DIRECTORIES (relative to SOURCE_DIR), of their names and
# of their text without comments and white space.
# Usage: cmake -DSOURCE_DIR=... "-DDIRECTORIES=a,b" -DOUTPUT=... -P hash_sources.cmake
string(REPLACE "," ";" DIRECTORIES "${DIRECTORIES}")
set(all "")
foreach(directory IN LISTS DIRECTORIES)
  file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/${directory}/*.cc" "${SOURCE_DIR}/${directory}/*.h")
  if(files STREQUAL "")
    message(FATAL_ERROR "no sources in ${directory}")
  endif()
  list(SORT files)
  foreach(file IN LISTS files)
    file(READ "${SOURCE_DIR}/${file}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
    string(SHA256 hash "${text}")
    string(APPEND all "${file} ${hash}\n")
  endforeach()
endforeach()
string(SHA256 identity "${all}")
string(SUBSTRING "${identity}" 0 16 identity)
file(WRITE "${OUTPUT}"
"// Generated at build time (hash_sources.cmake).
#include \"pipeline/steer/strategy_identity.h\"

namespace simrt::pipeline {

const char* strategy_identity() { return \"${identity}\"; }

}  // namespace simrt::pipeline
")
