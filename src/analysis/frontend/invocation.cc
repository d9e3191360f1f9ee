#include "analysis/frontend/invocation.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "analysis/frontend/command_line.h"
#include "analysis/frontend/source_filesystem.h"
#include "analysis/frontend/toolchain.h"
#include "support/hash.h"

namespace simrt::analysis {

namespace {

constexpr unsigned kErrorLimit = 200;  // enough to recover from what is recoverable, bounded for what is not

llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> silent_diagnostics() {
  return llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
      llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>(), new clang::IgnoringDiagConsumer());
}

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  result.reserve(strings.size());
  for (const std::string& text : strings) result.push_back(text.c_str());
  return result;
}

std::string absolute_path(const std::string& path, const std::string& directory) {
  return !path.empty() && path[0] == '/' ? path : directory + "/" + path;
}

/// Whether a positional argument names the unit's own source, however it is spelled.
bool names_source(const std::string& argument, const std::string& source, const std::string& directory,
                  const SourceView& view) {
  if (argument.empty() || argument[0] == '-') return false;
  if (std::filesystem::path(argument).filename() != std::filesystem::path(source).filename()) return false;
  const Route given = view.route(absolute_path(argument, directory));
  const Route wanted = view.route(source);
  return given.kind == wanted.kind && given.path == wanted.path;
}

// What follows from the source's name, and what has no influence on a precompiled header.
std::vector<std::string> shared_flags(const std::vector<std::string>& cc1, const std::string& source) {
  constexpr std::array<std::string_view, 6> kWithValue{
      "-main-file-name", "-o", "-dumpdir", "-main-file", "-fcoverage-compilation-dir", "-stack-usage-file"};
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < cc1.size(); ++i) {
    if (std::find(kWithValue.begin(), kWithValue.end(), cc1[i]) != kWithValue.end()) {
      ++i;
    } else if (cc1[i] != source && !cc1[i].starts_with("-fdebug-compilation-dir") &&
               !cc1[i].starts_with("-fcoverage-compilation-dir=") && !cc1[i].starts_with("-clear-ast") &&
               cc1[i] != "-disable-free") {
      flags.push_back(cc1[i]);
    }
  }
  return flags;
}

}  // namespace

Result<UnitInvocation> make_invocation(const CompileCommand& command,
                                       const std::shared_ptr<const SourceView>& view) {
  UnitInvocation unit;
  unit.directory = command.directory;
  unit.source = absolute_path(command.file, view->root());
  if (command.arguments.empty())
    return fail(ErrorCode::Analysis, fmt::format("{}: empty command", command.file));

  std::vector<std::string> driver{clang_driver(is_cxx_driver(command.arguments[0]))};
  if (const std::string resources = clang_resource_directory(); !resources.empty()) {
    driver.insert(driver.end(), {"-resource-dir", resources});
  }
  for (std::string& flag : parsing_flags({command.arguments.begin() + 1, command.arguments.end()})) {
    if (!names_source(flag, unit.source, unit.directory, *view) && flag != "--")
      driver.push_back(std::move(flag));
  }
  driver.insert(driver.end(), {"-fsyntax-only", "--", unit.source});

  clang::CreateInvocationOptions options;
  options.Diags = silent_diagnostics();
  std::unordered_set<std::string> questions;
  options.VFS = make_source_filesystem(view, unit.directory, &questions);
  options.RecoverOnError = true;  // an unknown option of gcc is an "error" to the driver
  std::vector<std::string> cc1;
  options.CC1Args = &cc1;
  if (!clang::createInvocation(pointers(driver), options) || cc1.empty()) {
    return fail(ErrorCode::Analysis,
                fmt::format("{}: clang makes no compilation of its command", command.file));
  }
  options.VFS = nullptr;
  unit.questions.assign(questions.begin(), questions.end());
  if (cc1[0] == "-cc1") cc1.erase(cc1.begin());
  unit.flags = shared_flags(cc1, unit.source);
  unit.group = hash_combine(hash_bytes(clang_version()), hash_bytes(unit.directory));
  for (const std::string& flag : unit.flags) unit.group = hash_combine(unit.group, hash_bytes(flag));
  return unit;
}

std::shared_ptr<clang::CompilerInvocation> make_compiler_invocation(const UnitInvocation& unit) {
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  std::vector<std::string> arguments = unit.flags;
  arguments.push_back(unit.source);
  const auto diagnostics = silent_diagnostics();
  // Recoverable refusals (an unknown -f option behind -Xclang) leave a usable invocation, so the result is no
  // guide.
  static_cast<void>(
      clang::CompilerInvocation::CreateFromArgs(*invocation, pointers(arguments), *diagnostics));

  clang::FrontendOptions& frontend = invocation->getFrontendOpts();
  if (frontend.Inputs.empty()) return nullptr;
  frontend.Inputs.resize(1);
  frontend.ProgramAction = clang::frontend::ParseSyntaxOnly;
  frontend.DisableFree = false;
  frontend.SkipFunctionBodies = true;
  frontend.OutputFile.clear();
  frontend.Plugins.clear();
  frontend.AddPluginActions.clear();
  frontend.LLVMArgs.clear();  // would change process-wide state

  clang::DiagnosticOptions& diagnostic = invocation->getDiagnosticOpts();
  diagnostic.IgnoreWarnings = true;
  diagnostic.ShowCarets = false;  // also silences clang's closing "N errors generated"
  diagnostic.ErrorLimit = kErrorLimit;
  diagnostic.DiagnosticSerializationFile.clear();
  diagnostic.DiagnosticLogFile.clear();
  invocation->getLangOpts().SpellChecking = false;
  invocation->getDependencyOutputOpts() = clang::DependencyOutputOptions();
  return invocation;
}

}  // namespace simrt::analysis
