#include "analysis/frontend/system_headers.h"

#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/frontend/header_conditions.h"
#include "analysis/frontend/parse.h"

namespace simrt::analysis {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 1;
// A PCH costs about as much as it saves on this many units.
constexpr std::size_t kWorthBuilding = 3;
// Headers that an existing one lacks are parsed by each unit anew, until this many units ask for it.
constexpr std::size_t kWorthRebuilding = 8;
constexpr std::chrono::hours kLeftoverAge{1};  // nobody builds for that long
constexpr int kRounds = 6;                     // of leaving out headers that do not compile
constexpr unsigned kLinesEach = 3;             // of the virtual header, for each include
// A macro of the project that more headers than this ask about keeps the units that define it from using the
// PCH; one that fewer ask about keeps those headers out of the PCH.
constexpr std::size_t kFewHeaders = 4;

struct Input {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds
  bool operator==(const Input&) const = default;
};

std::optional<Input> stat_input(const std::string& path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status)) return std::nullopt;
  return Input{path, status.getSize(), status.getLastModificationTime().time_since_epoch().count()};
}

std::string virtual_header(const std::set<std::string>& headers) {
  std::string text;
  for (const std::string& name : headers)
    text += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", name);
  return text;
}

// The line of the virtual header through which a location was included; 0 when it was not.
unsigned line_in_main_file(const clang::SourceManager& sources, clang::SourceLocation location) {
  location = sources.getExpansionLoc(location);
  while (location.isValid() && sources.getFileID(location) != sources.getMainFileID()) {
    location = sources.getIncludeLoc(sources.getFileID(location));
  }
  return location.isValid() ? sources.getExpansionLineNumber(location) : 0;
}

class PchAction final : public clang::GeneratePCHAction {
 public:
  HeaderGraph graph;
  std::vector<std::string> inputs;

 protected:
  bool BeginSourceFileAction(clang::CompilerInstance& instance) override {
    clang::Preprocessor& preprocessor = instance.getPreprocessor();
    preprocessor.addPPCallbacks(collect_header_graph(preprocessor, graph));
    return GeneratePCHAction::BeginSourceFileAction(instance);
  }
  void EndSourceFileAction() override {
    const clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it) {
      inputs.push_back(it->first.getName().str());
    }
    std::sort(inputs.begin(), inputs.end());
    GeneratePCHAction::EndSourceFileAction();
  }
};

// The headers of a virtual header that `lines` of it belong to.
std::set<std::string> headers_at(const std::set<std::string>& headers, const std::set<unsigned>& lines) {
  std::set<std::string> found;
  unsigned line = 1;
  for (const std::string& name : headers) {
    const auto hit = lines.lower_bound(line);
    if (hit != lines.end() && *hit < line + kLinesEach) found.insert(name);
    line += kLinesEach;
  }
  return found;
}

// Headers that ask about a macro of the project that only few headers ask about.
std::set<std::string> conflicting_headers(const HeaderGraph& graph, const std::set<std::string>& macros) {
  const std::set<std::string> conditions = graph.all_conditions();
  std::set<std::string> found;
  for (const std::string& macro : macros) {
    if (!conditions.contains(macro)) continue;
    const std::set<std::string> asking = graph.asking(macro);
    if (asking.size() <= kFewHeaders) found.insert(asking.begin(), asking.end());
  }
  return found;
}

std::string unique_suffix() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("-{}-{}.pch", getpid(), counter++);
}

}  // namespace

struct SystemHeaderStore::Manifest {
  std::string file;
  std::set<std::string> headers;   // asked for, whether they compiled or not
  std::set<std::string> compiled;  // the ones in the PCH
  std::set<std::string> conditions;
  std::vector<Input> inputs;
};

SystemHeaderStore::SystemHeaderStore(std::shared_ptr<SourceView> view, std::string directory)
    : view_(std::move(view)), directory_(std::move(directory)) {
  if (directory_.empty()) return;
  std::error_code error;
  fs::create_directories(directory_, error);
  const fs::path real = fs::canonical(directory_, error);
  directory_ = error ? std::string() : real.string();
}

std::string SystemHeaderStore::path(std::uint64_t group, const std::string& suffix) const {
  return fmt::format("{}/{:016x}{}", directory_, group, suffix);
}

std::optional<SystemHeaderStore::Manifest> SystemHeaderStore::load(std::uint64_t group) const {
  std::ifstream stream(path(group, ".json"), std::ios::binary);
  if (!stream) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object() || json.value("format", 0) != kFormat) return std::nullopt;
  Manifest manifest;
  try {
    manifest.file = json.at("file").get<std::string>();
    manifest.headers = json.at("headers").get<std::set<std::string>>();
    manifest.compiled = json.at("compiled").get<std::set<std::string>>();
    manifest.conditions = json.at("conditions").get<std::set<std::string>>();
    for (const auto& input : json.at("inputs")) {
      const Input recorded{input.at(0).get<std::string>(), input.at(1).get<std::uint64_t>(),
                           input.at(2).get<std::int64_t>()};
      if (stat_input(recorded.path) != recorded) return std::nullopt;  // stale
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // damaged: as good as none
  }
  std::error_code error;
  if (!fs::is_regular_file(manifest.file, error)) return std::nullopt;
  return manifest;
}

void SystemHeaderStore::save(std::uint64_t group, const Manifest& manifest) const {
  nlohmann::json json{{"format", kFormat},
                      {"file", manifest.file},
                      {"headers", manifest.headers},
                      {"compiled", manifest.compiled},
                      {"conditions", manifest.conditions},
                      {"inputs", nlohmann::json::array()}};
  for (const Input& input : manifest.inputs)
    json["inputs"].push_back({input.path, input.size, input.modified});

  const std::string final_path = path(group, ".json");
  std::string replaced;
  if (std::ifstream old(final_path); old) {
    const nlohmann::json previous = nlohmann::json::parse(old, nullptr, false);
    if (previous.is_object()) replaced = previous.value("file", std::string());
  }
  const std::string temporary = final_path + unique_suffix();
  std::ofstream(temporary, std::ios::binary) << json.dump();
  std::error_code error;
  fs::rename(temporary, final_path, error);
  remove_leftovers(group, manifest.file, replaced);
}

// The PCH that was replaced, and what killed processes left behind. Another process that still wants one of
// them falls back to a parse without.
void SystemHeaderStore::remove_leftovers(std::uint64_t group, const std::string& current,
                                         const std::string& replaced) const {
  const std::string prefix = path(group, "-");
  std::error_code error;
  const auto long_ago = fs::file_time_type::clock::now() - kLeftoverAge;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().string();
    if (!file.starts_with(prefix) || file == current) continue;
    std::error_code ignored;
    if (file == replaced || fs::last_write_time(file, ignored) < long_ago) fs::remove(file, ignored);
  }
}

struct SystemHeaderStore::Attempt {
  bool compiled = false;
  std::set<std::string> broken;  // headers with errors in them
  HeaderGraph graph;
  std::vector<std::string> inputs;  // absolute
};

SystemHeaderStore::Attempt SystemHeaderStore::compile(const HeaderGroup& group,
                                                      const std::set<std::string>& headers,
                                                      const std::string& file) const {
  Attempt attempt;
  UnitInvocation unit = group.representative;
  unit.source = path(unit.group, ".h");
  view_->add_virtual_file(unit.source, virtual_header(headers));
  auto invocation = make_compiler_invocation(unit);
  if (!invocation) return attempt;
  clang::FrontendOptions& frontend = invocation->getFrontendOpts();
  const clang::Language language = frontend.Inputs[0].getKind().getLanguage();
  frontend.Inputs[0] = clang::FrontendInputFile(
      unit.source, clang::InputKind(language, clang::InputKind::Source, false,
                                    clang::InputKind::HeaderUnit_None, /*Header=*/true));
  frontend.ProgramAction = clang::frontend::GeneratePCH;
  frontend.OutputFile = file;
  invocation->getPreprocessorOpts().Includes.clear();  // they belong to the units, behind the PCH
  invocation->getPreprocessorOpts().MacroIncludes.clear();

  PchAction action;
  std::set<unsigned> lines;
  const RunReport report =
      run_action(std::move(invocation), unit, view_, action,
                 [&](const clang::SourceManager& sources, clang::SourceLocation location) {
                   lines.insert(line_in_main_file(sources, location));
                 });
  attempt.compiled = report.errors == 0;
  attempt.broken = headers_at(headers, lines);
  attempt.graph = std::move(action.graph);
  for (const std::string& input : action.inputs) {
    if (input == unit.source) continue;
    attempt.inputs.push_back(input[0] == '/' ? input : unit.directory + "/" + input);
  }
  return attempt;
}

std::optional<SystemHeaderStore::Manifest> SystemHeaderStore::build(const HeaderGroup& group) const {
  Manifest manifest;
  manifest.headers = group.headers;
  manifest.compiled = group.headers;
  manifest.file = path(group.representative.group, unique_suffix());
  for (int round = 0; round < kRounds && !manifest.compiled.empty(); ++round) {
    const Attempt attempt = compile(group, manifest.compiled, manifest.file);
    const std::set<std::string> unwanted =
        attempt.compiled ? conflicting_headers(attempt.graph, group.macros) : attempt.broken;
    if (!unwanted.empty()) {
      std::erase_if(manifest.compiled, [&](const std::string& name) { return unwanted.contains(name); });
      continue;
    }
    // A system header that includes the project's own makes the whole thing worthless.
    if (!attempt.compiled ||
        std::any_of(attempt.inputs.begin(), attempt.inputs.end(),
                    [&](const std::string& input) { return view_->repository_path(input).has_value(); })) {
      break;
    }
    for (const std::string& input : attempt.inputs) {
      if (auto recorded = stat_input(input)) manifest.inputs.push_back(std::move(*recorded));
    }
    manifest.conditions = attempt.graph.all_conditions();
    return manifest;
  }
  std::error_code ignored;
  fs::remove(manifest.file, ignored);
  return std::nullopt;
}

std::shared_ptr<const PrecompiledHeaders> SystemHeaderStore::obtain(const HeaderGroup& group) {
  const std::uint64_t key = group.representative.group;
  if (directory_.empty() || group.headers.empty()) return nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = ready_.find(key); known != ready_.end()) return known->second;
  }
  std::optional<Manifest> manifest = load(key);
  const bool complete = manifest && std::includes(manifest->headers.begin(), manifest->headers.end(),
                                                  group.headers.begin(), group.headers.end());
  if (manifest ? !complete && group.units >= kWorthRebuilding : group.units >= kWorthBuilding) {
    if (auto fresh = build(group)) {
      save(key, *fresh);
      manifest = std::move(fresh);
    }
  }
  std::shared_ptr<const PrecompiledHeaders> result;
  if (manifest) {
    const std::string source = path(key, ".h");
    // clang looks whether the header that a PCH was made from is unchanged.
    view_->add_virtual_file(source, virtual_header(manifest->compiled));
    PrecompiledHeaders headers{manifest->file, source, std::move(manifest->conditions), {}};
    for (Input& input : manifest->inputs) headers.inputs.push_back(std::move(input.path));
    result = std::make_shared<const PrecompiledHeaders>(std::move(headers));
  }
  if (!result) return nullptr;  // asked again with more units there may be one
  const std::scoped_lock lock(mutex_);
  return ready_.try_emplace(key, std::move(result)).first->second;
}

std::shared_ptr<const PrecompiledHeaders> SystemHeaderStore::find(std::uint64_t group) const {
  const std::scoped_lock lock(mutex_);
  const auto known = ready_.find(group);
  return known == ready_.end() ? nullptr : known->second;
}

}  // namespace simrt::analysis
