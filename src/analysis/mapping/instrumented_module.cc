// Guard tables out of linked files.
#include "analysis/mapping/mapping.h"
#include "analysis/mapping/object_file.h"

namespace simrt::analysis {

Result<InstrumentedModule> read_instrumented_module(const std::string& path) {
  auto object = ObjectFile::open(path);
  if (!object) return fail(object.error());
  InstrumentedModule module;
  module.path = path;
  for (const auto& [pc, flags] : object->sancov_table()) {
    module.pcs.push_back(pc);
    module.entry.push_back((flags & 1) != 0);
  }
  if (!module.pcs.empty()) return module;
  module.pc_list_only = true;
  for (const TraceCall& call : object->trace_calls({})) module.pcs.push_back(call.end);
  if (module.pcs.empty()) {
    return fail(ErrorCode::Analysis, path + ": no coverage instrumentation",
                "build it with the simrt compiler wrappers, for example CXX=simrt-clang++");
  }
  return module;
}

}  // namespace simrt::analysis
