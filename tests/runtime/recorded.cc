#include "recorded.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

namespace simrt::runtime_test {
namespace {

struct Symbol {
  std::uint64_t begin = 0, end = 0;
  std::string name;
};

// Functions of an ELF file, by nm.
const std::vector<Symbol>& symbols(const std::string& file) {
  static std::map<std::string, std::vector<Symbol>> cache;
  auto [found, fresh] = cache.try_emplace(file);
  if (!fresh) return found->second;
  const std::string command = "nm -S --defined-only -C '" + file + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::istringstream in(line);
    std::uint64_t begin = 0, size = 0;
    std::string kind, name;
    in >> std::hex >> begin >> size >> kind;
    std::getline(in >> std::ws, name);
    if (in && (kind == "T" || kind == "t" || kind == "W" || kind == "w")) {
      found->second.push_back({begin, begin + size, name});
    }
  }
  return found->second;
}

std::string function_at(const testing::TraceModule& module, std::uint64_t pc) {
  for (const Symbol& symbol : symbols(module.path)) {
    if (pc >= symbol.begin && pc < symbol.end) return symbol.name;
  }
  return "?";
}

void add_work(const testing::TraceModule& module, const std::vector<std::uint32_t>& guards,
              std::set<std::string>& out) {
  for (const std::uint32_t guard : guards) {
    if (guard >= module.pcs.size()) {
      ADD_FAILURE() << "guard " << guard << " is in no table of " << module.path;
      continue;
    }
    const std::string name = function_at(module, module.pcs[guard] - (module.pc_list_only ? 1 : 0));
    if (name.rfind("work_", 0) == 0) out.insert(name);
  }
}

}  // namespace

std::vector<std::string> variants() {
  std::vector<std::string> result;
  std::istringstream in(SIMRT_VARIANTS);
  for (std::string variant; std::getline(in, variant, ',');) result.push_back(variant);
  return result;
}

std::string program(const std::string& file) { return std::string(SIMRT_PROGRAMS) + "/" + file; }

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "simrt-runtime-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no scratch directory";
  path_ = name;
}
Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

pid_t start(const std::vector<std::string>& command, const std::map<std::string, std::string>& variables,
            const std::string& directory) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (chdir(directory.c_str()) != 0) _exit(126);
  unsetenv("SIMRT_TRACE");
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

RecordedRun record(const std::vector<std::string>& command, std::map<std::string, std::string> variables) {
  const Scratch scratch;
  variables.emplace("SIMRT_TRACE", scratch.file("trace"));
  RecordedRun run;
  run.status = wait_for(start(command, variables, scratch.path()));
  for (const std::string& file : testing::trace_files(scratch.file("trace"))) {
    auto trace = testing::read_trace(file);
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      continue;
    }
    run.traces.push_back(*std::move(trace));
  }
  return run;
}

std::set<std::string> work_of(const testing::Trace& trace, const testing::TraceThread& thread) {
  std::set<std::string> result;
  for (std::size_t m = 0; m < trace.modules.size(); ++m)
    add_work(trace.modules[m], thread.covered[m], result);
  return result;
}

std::set<std::string> shared_work(const testing::Trace& trace) {
  std::set<std::string> result;
  for (std::size_t m = 0; m < trace.modules.size(); ++m) add_work(trace.modules[m], trace.shared[m], result);
  return result;
}

std::vector<std::uint32_t> threads_with(const testing::Trace& trace, const std::string& function) {
  std::vector<std::uint32_t> result;
  for (const testing::TraceThread& thread : trace.threads) {
    if (work_of(trace, thread).count(function) != 0) result.push_back(thread.index);
  }
  return result;
}

std::vector<std::string> creators(const testing::Trace& trace, const testing::TraceThread& thread) {
  std::vector<std::string> result;
  for (const testing::TraceFrame& frame : thread.frames) {
    result.push_back(function_at(trace.modules[frame.module], frame.offset - 1));
  }
  return result;
}

}  // namespace simrt::runtime_test
