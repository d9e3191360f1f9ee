#include "analysis/frontend/parse.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/LexDiagnostic.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CrashRecoveryContext.h>

#include <mutex>
#include <set>

#include "analysis/frontend/source_filesystem.h"

namespace simrt::analysis {

namespace {

constexpr std::size_t kMessages = 5;
constexpr unsigned kStackBytes = 64U << 20;  // generated code nests deeply

std::string absolute_path(llvm::StringRef name, const std::string& directory) {
  return name.starts_with("/") ? name.str() : directory + "/" + name.str();
}

class ErrorCollector final : public clang::DiagnosticConsumer {
 public:
  ErrorCollector(RunReport& report, const SourceView& view, const std::string& directory,
                 const std::function<void(const clang::SourceManager&, clang::SourceLocation)>& during_error)
      : report_(report), view_(view), directory_(directory), during_error_(during_error) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) return;
    if (++report_.errors == 1) report_.lacks_file = info.getID() == clang::diag::err_pp_file_not_found;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    std::string where;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      if (during_error_) during_error_(info.getSourceManager(), info.getLocation());
      const clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (at.isValid()) {
        const std::string path = absolute_path(at.getFilename(), directory_);
        where = fmt::format("{}:{}:{}: ", view_.repository_path(path).value_or(path), at.getLine(),
                            at.getColumn());
      }
    }
    if (report_.messages.size() < kMessages) report_.messages.push_back(where + text.str().str());
  }

 private:
  RunReport& report_;
  const SourceView& view_;
  const std::string& directory_;
  const std::function<void(const clang::SourceManager&, clang::SourceLocation)>& during_error_;
};

}  // namespace

RunReport run_action(
    std::shared_ptr<clang::CompilerInvocation> invocation, const UnitInvocation& unit,
    const std::shared_ptr<const SourceView>& view, clang::FrontendAction& action,
    const std::function<void(const clang::SourceManager&, clang::SourceLocation)>& during_error) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::CrashRecoveryContext::Enable(); });
  RunReport report;
  const auto run = [&] {
    ErrorCollector errors(report, *view, unit.directory, during_error);
    clang::CompilerInstance instance;
    instance.setInvocation(std::move(invocation));
    instance.createDiagnostics(&errors, /*ShouldOwnClient=*/false);
    instance.createFileManager(make_source_filesystem(view, unit.directory, &report.questions));
    instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
    if (!instance.ExecuteAction(action) && report.errors == 0) {
      report.errors = 1;
      report.messages.emplace_back("clang gave up without an explanation");
    }
  };
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafelyOnThread(run, kStackBytes)) {
    ++report.errors;
    report.messages.insert(report.messages.begin(), fmt::format("{}: clang crashed", unit.source));
    report.crashed = true;
  }
  return report;
}

std::vector<std::string> repository_files(const clang::SourceManager& sources, const SourceView& view,
                                          const std::string& directory) {
  std::set<std::string> paths;
  for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it) {
    const Route route = view.route(absolute_path(it->first.getName(), directory));
    if (route.kind != Route::Kind::Tree) continue;
    paths.insert(route.path);
    paths.insert(route.links.begin(), route.links.end());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace simrt::analysis
