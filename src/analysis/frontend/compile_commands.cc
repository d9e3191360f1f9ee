#include "analysis/frontend/compile_commands.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/StringSaver.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "analysis/frontend/command_line.h"
#include "analysis/frontend/work_trees.h"
#include "support/hash.h"

namespace simrt::analysis {

namespace fs = std::filesystem;

namespace {

constexpr const char* kHowToGetOne =
    "CMake: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; Meson writes one; else use 'bear -- make'";

constexpr std::array<std::string_view, 9> kSourceExtensions{".c", ".cc",  ".cpp", ".cxx", ".c++",
                                                            ".C", ".CPP", ".cp",  ".ixx"};

bool is_source(const std::string& file, const std::vector<std::string>& arguments) {
  const std::string extension = fs::path(file).extension().string();
  if (std::find(kSourceExtensions.begin(), kSourceExtensions.end(), extension) != kSourceExtensions.end())
    return true;
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "-x" && (arguments[i + 1] == "c" || arguments[i + 1] == "c++")) return true;
  }
  return std::find(arguments.begin(), arguments.end(), "-xc++") != arguments.end() ||
         std::find(arguments.begin(), arguments.end(), "-xc") != arguments.end();
}

std::vector<std::string> split_shell(const std::string& command) {
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char*, 64> words;
  llvm::cl::TokenizeGNUCommandLine(command, saver, words);
  return {words.begin(), words.end()};
}

std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments,
                                               const std::string& directory) {
  if (std::none_of(arguments.begin(), arguments.end(), [](const auto& a) { return a.starts_with("@"); })) {
    return arguments;
  }
  llvm::BumpPtrAllocator allocator;
  llvm::SmallVector<const char*, 64> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  llvm::cl::ExpansionContext context(allocator, llvm::cl::TokenizeGNUCommandLine);
  context.setCurrentDir(directory).setRelativeNames(false);
  // A missing file stays as it is; the parse then says what it lacks.
  if (llvm::Error error = context.expandResponseFiles(words)) llvm::consumeError(std::move(error));
  return {words.begin(), words.end()};
}

constexpr std::string_view kAroundNames = "/:,;=\"' ";

/// Whether `path`, or what else begins with one, is `directory` or lies in it.
bool is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() ||
                                         kAroundNames.find(path[directory.size()]) != std::string_view::npos);
}

/// Whether a path starts at `at`: behind an option ("-I/a"), in a list ("/a:/b"), as a value ("X=/a").
bool starts_path(std::string_view text, std::size_t at) {
  const std::size_t before = text.substr(0, at).find_last_of(kAroundNames);
  return before == std::string_view::npos || text[before] != '/';
}

/// Paths in `text` that lie in `from`, as they are called in `to`; those in `kept` stay.
std::string moved(std::string text, const std::string& from, const std::string& to,
                  const std::string& kept = {}) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::string_view path = std::string_view(text).substr(at);
    const bool moves =
        starts_path(text, at) && is_below(path, from) && (kept.empty() || !is_below(path, kept));
    if (moves) text.replace(at, from.size(), to);
    at += moves ? to.size() : 1;
  }
  return text;
}

/// The repository as it may be spelled in a database: as given, and with symlinks resolved.
class Root {
 public:
  explicit Root(const fs::path& given) : spellings_{fs::absolute(given).lexically_normal()} {
    std::error_code error;
    if (const fs::path real = fs::canonical(given, error); !error && real != spellings_[0])
      spellings_.push_back(real);
    for (fs::path& spelling : spellings_) {
      if (!spelling.has_filename()) spelling = spelling.parent_path();  // "/repo/" means "/repo"
    }
  }

  std::string relative(const fs::path& absolute) const {
    if (auto inside = below(absolute.lexically_normal())) return *inside;
    std::error_code error;  // a build directory that reaches the sources through a symlink
    const fs::path real = fs::weakly_canonical(absolute, error);
    if (!error) {
      if (auto inside = below(real)) return *inside;
    }
    return absolute.lexically_normal().string();
  }

  /// Replaces the repository's path wherever it starts a path in `text`.
  std::string without_root(std::string text) const {
    for (const fs::path& spelling : spellings_) text = moved(std::move(text), spelling.string(), "<root>");
    return text;
  }

  const std::string& path() const { return spellings_[0].native(); }

 private:
  std::optional<std::string> below(const fs::path& path) const {
    for (const fs::path& spelling : spellings_) {
      const std::string prefix = spelling.string() + "/";
      if (path.string().starts_with(prefix)) return path.string().substr(prefix.size());
    }
    return std::nullopt;
  }

  std::vector<fs::path> spellings_;
};

std::optional<CompileCommand> read_entry(const nlohmann::json& entry, const fs::path& database) {
  if (!entry.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string file = text("file");
  if (file.empty()) return std::nullopt;
  CompileCommand command;
  command.directory = (database.parent_path() / text("directory")).lexically_normal().string();
  if (const auto list = entry.find("arguments"); list != entry.end() && list->is_array()) {
    for (const auto& argument : *list) {
      if (argument.is_string()) command.arguments.push_back(argument.get<std::string>());
    }
  } else {
    command.arguments = split_shell(text("command"));
  }
  command.arguments = without_launcher(expand_response_files(command.arguments, command.directory));
  if (command.arguments.empty() || !is_source(file, command.arguments)) return std::nullopt;
  command.file = (fs::path(command.directory) / file).lexically_normal().string();
  return command;
}

/// This one and the others, the longest path first: one may lie in another.
std::vector<std::string> all_work_trees(const Root& root) {
  std::vector<std::string> trees = other_work_trees(root.path());
  trees.push_back(root.path());
  std::sort(trees.begin(), trees.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return trees;
}

/// A build in another work tree compiles the same files: its command as it would be here. What the build made
/// stays where it is (in `build`, the database's directory, where that is none of the sources').
void move_here(CompileCommand& command, const std::vector<std::string>& work_trees, const Root& root,
               const std::string& build) {
  const auto there = std::find_if(work_trees.begin(), work_trees.end(),
                                  [&](const std::string& tree) { return is_below(command.file, tree); });
  if (there == work_trees.end() || *there == root.path()) return;
  std::error_code error;
  const bool apart = is_below(build, *there) && !fs::is_directory(moved(build, *there, root.path()), error);
  const std::string kept = apart ? build : std::string();
  const auto here = [&](std::string text) { return moved(std::move(text), *there, root.path(), kept); };
  command.file = here(command.file);
  command.directory = here(command.directory);
  for (std::string& argument : command.arguments) argument = here(argument);
}

}  // namespace

Result<std::vector<CompileCommand>> load_compile_commands(const fs::path& database,
                                                          const fs::path& repository_root) {
  std::ifstream stream(database, std::ios::binary);
  if (!stream)
    return fail(ErrorCode::Project, fmt::format("cannot read {}", database.string()), kHowToGetOne);
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_array()) {
    return fail(ErrorCode::Project, fmt::format("{} is not a compile database", database.string()),
                "delete it and configure the build again");
  }
  const Root root(repository_root);
  const std::vector<std::string> work_trees = all_work_trees(root);
  const std::string build = fs::absolute(database).lexically_normal().parent_path().string();
  std::map<std::string, CompileCommand> by_file;
  for (const nlohmann::json& entry : json) {
    if (auto command = read_entry(entry, fs::absolute(database))) {
      move_here(*command, work_trees, root, build);
      command->file = root.relative(command->file);
      by_file.try_emplace(command->file, std::move(*command));
    }
  }
  if (by_file.empty()) {
    return fail(ErrorCode::Project, fmt::format("{} names no C or C++ source", database.string()),
                kHowToGetOne);
  }
  std::vector<CompileCommand> commands;
  commands.reserve(by_file.size());
  for (auto& [file, command] : by_file) commands.push_back(std::move(command));
  return commands;
}

Result<fs::path> find_compile_commands(const fs::path& repository_root) {
  constexpr const char* kName = "compile_commands.json";
  std::error_code error;
  for (const fs::path& candidate : {repository_root / kName, repository_root / "build" / kName}) {
    if (fs::is_regular_file(candidate, error)) return candidate;
  }
  std::vector<fs::path> found;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(repository_root, options, error), end; it != end;
       it.increment(error)) {
    if (error) break;
    if (it->path().filename() == ".git" || it.depth() >= 2) it.disable_recursion_pending();
    if (it->path().filename() == kName && it->is_regular_file(error)) found.push_back(it->path());
  }
  if (found.empty()) {
    return fail(ErrorCode::Project, fmt::format("no {} in {}", kName, repository_root.string()),
                kHowToGetOne);
  }
  const auto rank = [&](const fs::path& path) {
    const std::string relative = path.lexically_relative(repository_root).string();
    return std::pair(relative.starts_with("."), relative);
  };
  return *std::min_element(found.begin(), found.end(),
                           [&](const fs::path& a, const fs::path& b) { return rank(a) < rank(b); });
}

std::uint64_t command_hash(const CompileCommand& command, const std::string& repository_root) {
  const Root root(repository_root);
  if (command.arguments.empty()) return 0;
  std::uint64_t hash = hash_bytes(is_cxx_driver(command.arguments[0]) ? "c++" : "c");
  hash = hash_combine(hash, hash_bytes(root.without_root(command.directory)));
  for (const std::string& flag : parsing_flags({command.arguments.begin() + 1, command.arguments.end()})) {
    hash = hash_combine(hash, hash_bytes(root.without_root(flag)));
  }
  return hash;
}

}  // namespace simrt::analysis
