// Systematic search: depth first, preemption bound, dynamic partial order reduction, each with or without the
// guidance of predecessor sets (HaPSet, ICSE 2011).
#include <fmt/format.h>

#include <charconv>

#include "pipeline/steer/steering.h"
#include "schedule/search/search.h"

namespace simrt::pipeline {
namespace {

struct Parsed {
  schedule::SearchOptions options;
  bool rest = false;  ///< where guided search ends, go on with less guidance and then with none
  std::string scope;
};

/// Partial order reduction without guidance. Depth first, it turns round the ends of the last threads for a
/// long time before it comes to the first ones.
constexpr schedule::SearchOptions kPlain = {.reduction = schedule::Reduction::Source,
                                            .order = schedule::SearchOrder::Alternating};

/// "dfs", "dpor", "pcb2", "hapset" (with dpor), "hapset+pcb2", "hapset+dpor", "hapset+dfs", "hapset+rest",
/// "dpor+pcb2".
Result<Parsed> parse(const std::string& name) {
  Parsed parsed;
  schedule::SearchOptions& options = parsed.options;
  options.reduction = schedule::Reduction::None;
  bool reduces = false, plain = false;
  std::size_t at = 0;
  while (at <= name.size()) {
    const std::size_t end = std::min(name.find('+', at), name.size());
    const std::string part = name.substr(at, end - at);
    at = end + 1;
    if (part == "hapset") {
      options.guided = true;
    } else if (part == "dpor") {
      reduces = true;
    } else if (part == "dfs") {
      plain = true;
    } else if (part == "rest") {
      parsed.rest = true;
    } else if (part.starts_with("pcb")) {
      unsigned bound = 2;
      if (part.size() > 3) {
        const auto [last, error] = std::from_chars(part.data() + 3, part.data() + part.size(), bound);
        if (error != std::errc() || last != part.data() + part.size())
          return fail(ErrorCode::Usage, fmt::format("there is no strategy {}", part), "pcb0 to pcb4");
      }
      options.preemptions = bound;
    } else {
      return fail(ErrorCode::Usage, fmt::format("there is no strategy {}", part));
    }
  }
  if (reduces || (options.guided && !options.preemptions && !plain))
    options.reduction = schedule::Reduction::Source;
  if (parsed.rest && (!options.guided || options.preemptions || plain))
    return fail(ErrorCode::Usage, fmt::format("there is no strategy {}", name), "hapset+rest");
  if (options.reduction == schedule::Reduction::Source && !options.guided && !options.preemptions)
    options = kPlain;
  parsed.scope = options.preemptions
                     ? fmt::format("all interleavings with at most {} preemptions", *options.preemptions)
                     : std::string("all interleavings");
  return parsed;
}

class Searching final : public Steering {
 public:
  Searching(const SteeringOptions& options, Parsed parsed, schedule::SystematicSearch search)
      : options_(options), parsed_(std::move(parsed)), search_(std::move(search)) {}

  std::optional<Proposal> next() override {
    if (search_.report().executions == 0) recall();
    auto prefix = search_.next_prefix();
    while (!prefix && parsed_.rest && parsed_.options.guided) {
      go_on();
      prefix = search_.next_prefix();
    }
    if (!prefix) return std::nullopt;
    Proposal proposal;
    proposal.all_points = true;
    proposal.deterministic = true;
    for (std::size_t i = 0; i < prefix->size(); ++i) {
      format::ScheduleItem item = {};
      item.decision = i + 1;
      item.thread = (*prefix)[i];
      item.choice = format::ChoiceKind::Run;
      item.module = format::kPlanNone;
      proposal.plan.schedule.push_back(item);
    }
    return proposal;
  }

  void learn(const Execution& execution, const Observed& seen, const Learned&) override {
    threads_cut_ |= (seen.result.execution.flags & format::kRunEnabledCut) != 0;
    add(execution);
  }

  /// Of two searches only one makes the first execution, for it is the same.
  void watch(const Execution& execution, const Learned& learned) override {
    if (!learned.by_default || search_.report().executions > 0) return;
    recall();
    search_.next_prefix();  // the empty one
    add(execution);
  }

  SteeringReport report() const override {
    const schedule::SearchReport& done = search_.report();
    const Knowledge& known = *options_.knowledge;
    SteeringReport report;
    report.finished = done.finished;
    report.scope = parsed_.scope + " under sequential consistency";
    report.complete = done.complete && !threads_cut_ && known.ambiguous_notifications() == 0 &&
                      known.ended_early() == 0 && known.uncontrolled() == 0;
    if (done.redundant > 0)
      report.lines.push_back(fmt::format("{} executions repeated an equivalent one", done.redundant));
    report.lines.insert(report.lines.end(), ended_.begin(), ended_.end());
    if (parsed_.options.guided)
      report.lines.push_back(fmt::format(
          "guided by predecessor sets ({} pairs): {} orders not tried because they had been seen; "
          "may miss bugs",
          search_.hapsets().size(), done.pruned));
    if (done.finished && !done.complete && !parsed_.options.guided)
      report.lines.push_back("not proven complete: executions diverged or were cut at a limit");
    if (threads_cut_)
      report.lines.push_back("not proven complete: threads above number 63 are not reordered");
    if (known.ambiguous_notifications() > 0)
      report.lines.push_back(
          "not proven complete: which of several waiters a notification wakes was not varied");
    if (known.ended_early() > 0)
      report.lines.push_back(
          "not proven complete: executions ended while threads were at work; what those had yet to do is not "
          "known");
    if (known.uncontrolled() > 0)
      report.lines.push_back("not proven complete: executions were not under full control");
    return report;
  }

  bool stops_at_saturation() const override { return false; }

 private:
  void add(const Execution& execution) {
    const auto& impacted = options_.knowledge->impacted();
    if (impacted.size() != forgotten_) {  // what was learned before the change counts no more there
      search_.forget(impacted);
      forgotten_ = impacted.size();
    }
    search_.learn(execution);
  }

  /// What the history knows is known when the first execution is made, not when this was made. Nothing else
  /// is told: an order that another strategy's execution showed would keep this one from all that lies behind
  /// it.
  void recall() {
    if (parsed_.options.guided && ended_.empty()) search_.know(options_.knowledge->remembered_orders());
  }

  /// The guided search has ended: the next part, each wider than the one before.
  void go_on() {
    const bool wide = parsed_.options.novelty == schedule::Novelty::Either;
    ended_.push_back(
        fmt::format("guided by predecessor sets for {} executions ({} pairs), until {}",
                    search_.report().executions, search_.hapsets().size(),
                    wide ? "all that would come behind something new was tried; then without guidance"
                         : "every reversed order had been seen"));
    if (wide) {
      parsed_.options = kPlain;
    } else {
      parsed_.options.novelty = schedule::Novelty::Either;
    }
    // From nothing: what was learned would end it before it came to where it differs.
    search_ = schedule::SystematicSearch::create(parsed_.options).value();
  }

  SteeringOptions options_;
  Parsed parsed_;
  schedule::SystematicSearch search_;
  std::vector<std::string> ended_;  // parts of the search, where the rest followed
  bool threads_cut_ = false;
  std::size_t forgotten_ = 0;
};

}  // namespace

SteeringResult steer_search(const SteeringOptions& options, const std::string& name) {
  auto parsed = parse(name);
  if (!parsed) return fail(parsed.error());
  auto search = schedule::SystematicSearch::create(parsed->options);
  if (!search) return fail(search.error());
  return std::make_unique<Searching>(options, std::move(*parsed), std::move(*search));
}

}  // namespace simrt::pipeline
