#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "pipeline/hook.h"
#include "pipeline/select.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kShown = 20;

bool is_zero(const std::string& id) { return !id.empty() && id.find_first_not_of('0') == std::string::npos; }

std::string test_lines(const report::SelectionView& view) {
  std::string out;
  std::size_t shown = 0, running = 0, cut = 0;
  double seconds = 0;
  for (const Decision& decision : view.selection.decisions) {
    if (decision.run) {
      ++running;
      seconds += decision.seconds;
      if (shown++ < kShown) out += fmt::format("  {}\n", report::test_name(view, decision.test));
    } else if (decision.tier == Tier::Selected) {
      ++cut;
    }
  }
  if (running > kShown)
    out += fmt::format("  ... and {} more (simrt select --format names)\n", running - kShown);
  std::string head = fmt::format("simrt: {} of {} tests could reveal a new concurrency bug ({:.1f} s)\n",
                                 running, view.selection.decisions.size(), seconds);
  if (cut != 0) out += fmt::format("  not looked at: {} more that do not fit the time budget\n", cut);
  for (std::size_t i = 0; i < std::min<std::size_t>(kShown, view.impact.unknowns.size()); ++i)
    out += fmt::format("  not known: {}\n", view.impact.unknowns[i].what);
  for (const report::NewTest& test : view.new_tests) out += fmt::format("  new test: {}\n", test.name);
  return head + out;
}

std::string advice(const HookRun& run, const PushedRef& ref) {
  SelectRequest request;
  request.directory = run.directory;
  request.database = run.database;
  request.head = ref.local_id;
  if (!ref.creates()) request.base = ref.remote_id;
  request.budget_seconds = run.budget_seconds;
  request.remember = false;
  auto outcome = run_select(request);
  std::string note;
  if (!outcome && !request.base.empty() && outcome.error().code == ErrorCode::Repository) {
    // The remote has commits that were never fetched: compare with what is recorded instead.
    note =
        fmt::format("simrt: the remote's {} is not known here; compared with the nearest recorded revision\n",
                    ref.remote_ref);
    request.base.clear();
    outcome = run_select(request);
  }
  if (!outcome)
    return fmt::format("{}simrt: {} was not looked at: {}{}\n", note, ref.local_ref, outcome.error().message,
                       outcome.error().hint.empty() ? "" : " (" + outcome.error().hint + ")");
  return fmt::format("simrt: {} -> {}\n", ref.local_ref, ref.remote_ref) + note + test_lines(outcome->view);
}

}  // namespace

bool PushedRef::deletes() const { return is_zero(local_id); }
bool PushedRef::creates() const { return is_zero(remote_id); }
bool PushedRef::is_branch() const { return remote_ref.rfind("refs/heads/", 0) == 0; }

Result<std::vector<PushedRef>> read_pushed_refs(std::istream& input) {
  std::vector<PushedRef> refs;
  for (std::string line; std::getline(input, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    PushedRef ref;
    std::string excess;
    if (!(words >> ref.local_ref >> ref.local_id >> ref.remote_ref >> ref.remote_id) || words >> excess)
      return fail(ErrorCode::Usage, fmt::format("not a line of git's pre-push hook: '{}'", line),
                  "simrt hook run is called by git; try simrt select");
    refs.push_back(std::move(ref));
  }
  return refs;
}

Result<std::string> run_hook(const HookRun& run, const std::vector<PushedRef>& refs) {
  std::string out;
  for (const PushedRef& ref : refs) {
    if (ref.deletes())
      out += fmt::format("simrt: {} is deleted: nothing to select\n", ref.remote_ref);
    else if (!ref.is_branch())
      out += fmt::format("simrt: {} was not looked at: not a branch\n", ref.remote_ref);
    else
      out += advice(run, ref);
  }
  return out;
}

}  // namespace simrt::pipeline
