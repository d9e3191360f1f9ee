#include "report/selection_view.h"

#include <fmt/format.h>

#include "report/selection_formats.h"

namespace simrt::report {

std::string to_string(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::Pair:
      return "pair";
    case ReasonKind::DangerousEdge:
      return "dangerous-edge";
    case ReasonKind::All:
      return "all";
    case ReasonKind::NewTest:
      return "new-test";
    case ReasonKind::ChangedTest:
      return "changed-test";
    case ReasonKind::NoCoverage:
      return "no-coverage";
    case ReasonKind::LastRunFailed:
      return "last-run-failed";
    case ReasonKind::UnknownChange:
      return "unknown";
    case ReasonKind::ConfigRule:
      return "config-rule";
    case ReasonKind::NotCovered:
      return "not-covered";
    case ReasonKind::OverBudget:
      return "over-budget";
  }
  return "unknown";
}

std::string to_string(ImpactRule rule) {
  switch (rule) {
    case ImpactRule::NotImpacted:
      return "not-impacted";
    case ImpactRule::AccessChanged:
      return "access-changed";
    case ImpactRule::CallChanged:
      return "call-changed";
    case ImpactRule::SyncChanged:
      return "sync-changed";
    case ImpactRule::SafetyDropped:
      return "safety-dropped";
    case ImpactRule::ForwardSlice:
      return "forward-slice";
    case ImpactRule::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::string to_string(Tier tier) {
  switch (tier) {
    case Tier::Selected:
      return "selected";
    case Tier::ImpactedAccess:
      return "covers impacted accesses by one thread";
    case Tier::SharedAccessOnly:
      return "covers shared accesses that are not impacted";
    case Tier::Other:
      return "other";
  }
  return "other";
}

std::string access_location(const SharedAccess& access) {
  return fmt::format("{}:{}:{}", access.file, access.at.line, access.at.column);
}

std::string test_name(const SelectionView& view, TestId test) {
  const auto found = view.tests.find(test);
  return found == view.tests.end() ? "?" : found->second.name;
}

std::string render_selection(const SelectionView& view, Format format) {
  switch (format) {
    case Format::Text:
      return render_text(view);
    case Format::Json:
      return selection_json(view);
    case Format::Names:
      return render_names(view);
    case Format::GTest:
      return render_gtest(view);
    case Format::CTest:
      return render_ctest(view);
  }
  return {};
}

}  // namespace simrt::report
