#include "impact/locksets.h"

#include <algorithm>
#include <set>

namespace simrt::impact {
namespace {

constexpr int kMaxRounds = 12;  ///< per function, for recursion; then nothing is claimed as acquired
const LockSummary kNoEffect;

std::string class_of_method(const std::string& method) {
  std::string name = method.substr(0, method.find('('));
  const std::size_t at = name.rfind("::");
  return at == std::string::npos ? std::string() : name.substr(0, at);
}

}  // namespace

Locksets::Locksets(const ProgramIndex& index, const CallGraph& calls, LockNames& names)
    : index_(index), calls_(calls), names_(names) {
  find_lockable_classes();
  LockContext context{
      index_, calls_, names_, lockable_, [this](std::uint32_t f) -> const LockSummary& { return summary(f); },
      nullptr};
  context.equalities = [this, &context](std::uint32_t f) -> const auto& { return equalities(context, f); };
  solve(context);
}

/// A method that acquires a member and does not give it back makes its class a lock.
void Locksets::find_lockable_classes() {
  for (std::uint32_t f = 0; f < index_.function_count(); ++f) {
    const FunctionFacts& facts = index_.function(f);
    if (facts.has(kConstructor) || facts.has(kDestructor) || facts.has(kLambda)) continue;
    VariableId member;
    bool keeps = true;
    const Range events = index_.events_of(f);
    for (std::uint32_t event = events.begin; event < events.end && keeps; ++event) {
      const auto* op = std::get_if<LockOp>(&index_.event(event).what);
      if (!op || op->action == LockAction::Assume) continue;
      keeps = op->action == LockAction::Acquire && op->locks.size() == 1 && op->locks[0].instance == "this";
      if (keeps) member = op->locks[0].base;
    }
    if (!keeps || !member) continue;
    const std::string owner = class_of_method(facts.name);
    if (owner.empty()) continue;
    lockable_.try_emplace(owner, member);
    names_.set_lockable_member(member);
  }
}

std::vector<std::uint32_t> Locksets::callees_first() const {
  std::vector<std::uint32_t> rank(calls_.node_count(), kNone);
  std::vector<bool> seen(calls_.node_count(), false);
  std::uint32_t next = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack;
  for (std::uint32_t root = 0; root < index_.function_count(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, edge] = stack.back();
      const auto edges = calls_.out(node);
      if (edge == edges.size()) {
        rank[node] = next++;
        stack.pop_back();
        continue;
      }
      const std::uint32_t callee = edges[edge++].callee;
      if (!seen[callee] && calls_.is_function(callee)) seen[callee] = true, stack.emplace_back(callee, 0);
    }
  }
  return rank;
}

void Locksets::solve(LockContext& context) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t f = 0; f < index_.function_count(); ++f) {
    const Range events = index_.events_of(f);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (std::holds_alternative<LockOp>(index_.event(event).what)) {
        starts.push_back(f);
        break;
      }
  }
  if (starts.empty()) return;
  const std::vector<std::uint32_t> rank = callees_first();
  std::set<std::pair<std::uint32_t, std::uint32_t>> work;
  for (std::uint32_t f : starts) work.emplace(rank[f], f);
  std::unordered_map<std::uint32_t, int> rounds;
  while (!work.empty()) {
    const std::uint32_t f = work.begin()->second;
    work.erase(work.begin());
    LockFlow flow = lock_flow(context, f);
    if (++rounds[f] > kMaxRounds) flow.summary.acquires.clear();
    const bool settled = rounds[f] > 2 * kMaxRounds || flow.summary == summary(f);
    flows_[f] = std::move(flow);
    if (settled) continue;
    for (const CallEdge& edge : calls_.in(f))
      if ((edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual) &&
          calls_.is_function(edge.caller))
        work.emplace(rank[edge.caller], edge.caller);
  }
}

const std::vector<std::pair<std::string, std::string>>& Locksets::equalities(const LockContext& context,
                                                                             std::uint32_t function) {
  auto [known, fresh] = equalities_.try_emplace(function);
  if (fresh) {  // a cycle of constructors sees the empty entry and ends
    auto found = lock_frame(context, function).exported_equalities();
    equalities_[function] = std::move(found);
  }
  return equalities_[function];
}

const LockSummary& Locksets::summary(std::uint32_t function) const {
  const auto flow = flows_.find(function);
  return flow == flows_.end() ? kNoEffect : flow->second.summary;
}

const std::vector<std::uint32_t>& Locksets::given_up(std::uint32_t function) const {
  static const std::vector<std::uint32_t> kNothing;
  const auto flow = flows_.find(function);
  return flow == flows_.end() ? kNothing : flow->second.gives_up;
}

std::uint32_t Locksets::at(std::uint32_t event) const {
  const std::uint32_t f = index_.function_of_event(event);
  const auto flow = flows_.find(f);
  return flow == flows_.end() ? 0 : flow->second.at_event[event - index_.events_of(f).begin];
}

std::span<const LockTouch> Locksets::touches(std::uint32_t function) const {
  const auto flow = flows_.find(function);
  if (flow == flows_.end()) return {};
  return flow->second.touches;
}

}  // namespace simrt::impact
