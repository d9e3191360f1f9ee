# Writes a C++ file that holds every db_schema/NNNN_name.sql, so that the binary needs no file at run time.
# Usage: cmake -DSCHEMA_DIR=... -DOUTPUT=... -P embed_migrations.cmake
file(GLOB scripts "${SCHEMA_DIR}/[0-9][0-9][0-9][0-9]_*.sql")
list(SORT scripts)
set(entries "")
set(expected 1)
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  string(SUBSTRING "${name}" 0 4 number)
  string(REGEX REPLACE "^0+" "" version "${number}")
  if(NOT version EQUAL expected)
    message(FATAL_ERROR "db_schema: expected migration ${expected}, found ${name}")
  endif()
  file(READ "${script}" text)
  string(APPEND entries "    {${version}, \"${name}\", R\"simrt_sql(${text})simrt_sql\"},\n")
  math(EXPR expected "${expected} + 1")
endforeach()
file(WRITE "${OUTPUT}.new"
"// Generated from db_schema/ at build time.
#include \"history/migrations.h\"

namespace simrt::history {
namespace {
constexpr Migration kMigrations[] = {
${entries}};
}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace simrt::history
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
