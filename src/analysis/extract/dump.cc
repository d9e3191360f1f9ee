#include "analysis/extract/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace simrt::analysis {
namespace {

template <class Enum, std::size_t N>
const char* name_of(Enum value, const std::array<const char*, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "?";
}

constexpr std::array kOrders{"", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};
constexpr std::array kCalls{"direct", "virtual", "indirect", "callback", "spawn", "pointer"};
constexpr std::array kLocks{"acquire",       "try-acquire",   "release",    "guard-bind", "guard-defer",
                            "guard-acquire", "guard-release", "guard-move", "assume",     "guard-adopt"};
constexpr std::array kOrderKinds{"fence",         "condition-wait",    "notify-one",
                                 "notify-all",    "semaphore-acquire", "semaphore-release",
                                 "latch-arrive",  "latch-wait",        "barrier-wait",
                                 "once-call",     "thread-spawn",      "thread-join",
                                 "thread-detach", "future-get",        "promise-set",
                                 "atomic-wait",   "atomic-notify",     "static-init"};
constexpr std::array kEdges{"", "true", "false", "case", "default", "exception", "unreachable"};
constexpr std::array kVariableKinds{"global",    "field",  "static member", "local",
                                    "parameter", "return", "receiver",      "type"};

struct Printer {
  const UnitFacts& unit;

  std::string variable(VariableId id) const {
    const auto found =
        std::lower_bound(unit.variables.begin(), unit.variables.end(), id,
                         [](const VariableFacts& facts, VariableId wanted) { return facts.id < wanted; });
    return found != unit.variables.end() && found->id == id ? found->name : fmt::format("#{:x}", id.value);
  }
  std::string place(const Place& place) const {
    if (!place.base) return "?";
    std::string result = std::string(place.derefs, '*') + variable(place.base);
    return place.instance.empty() ? result : result + " of " + place.instance;
  }
  std::string value(const Value& value) const {
    return (value.address_of && value.place.base ? "&" : "") + place(value.place);
  }
  static std::string order(MemoryOrder order) {
    return order == MemoryOrder::NotAtomic ? std::string() : fmt::format(" ({})", name_of(order, kOrders));
  }

  std::string operator()(const Access& access) const {
    std::string text = access.mode == AccessMode::Read ? "read " : "write ";
    text += place(access.place) + order(access.order);
    constexpr std::array<std::pair<AccessTag, const char*>, 5> tags{{{kTagOwnConstructor, "own-constructor"},
                                                                     {kTagConstObject, "const"},
                                                                     {kTagThreadLocal, "thread-local"},
                                                                     {kTagVolatile, "volatile"},
                                                                     {kTagWholeObject, "whole"}}};
    for (const auto& [tag, label] : tags)
      if (access.tags & tag) text += fmt::format(" [{}]", label);
    return text;
  }
  std::string operator()(const Call& call) const {
    std::string text = fmt::format("call {} ", name_of(call.kind, kCalls));
    if (call.receiver) text += value(*call.receiver) + " . ";
    text += call.name;
    if (call.arguments.empty()) return text;
    text += " (";
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      text += (i ? ", " : "") + value(call.arguments[i]);
    return text + ")";
  }
  std::string operator()(const LockOp& operation) const {
    std::string text = name_of(operation.action, kLocks);
    if (operation.mode == LockMode::Shared) text += " shared";
    if (operation.guard.base) text += " " + place(operation.guard);
    if (operation.source.base) text += " from " + place(operation.source);
    if (!operation.locks.empty()) text += ":";
    for (const Place& lock : operation.locks) text += " " + place(lock);
    return text;
  }
  std::string operator()(const OrderOp& operation) const {
    return fmt::format("{}{}{}", name_of(operation.kind, kOrderKinds),
                       operation.object.base ? " " + place(operation.object) : "", order(operation.order));
  }
  std::string operator()(const Binding& binding) const {
    return fmt::format("bind {} := {}", place(binding.target), value(binding.value));
  }
};

std::string flags_text(std::uint32_t flags) {
  constexpr std::array<std::pair<FunctionFlag, const char*>, 10> names{{{kConstructor, "constructor"},
                                                                        {kDestructor, "destructor"},
                                                                        {kLambda, "lambda"},
                                                                        {kCoroutine, "coroutine"},
                                                                        {kStaticInit, "static-init"},
                                                                        {kInstantiation, "instantiation"},
                                                                        {kDependent, "dependent"},
                                                                        {kNoCfg, "no-cfg"},
                                                                        {kImplicit, "implicit"},
                                                                        {kBroken, "broken"}}};
  std::string text;
  for (const auto& [flag, name] : names)
    if (flags & flag) text += fmt::format(" {}", name);
  return text;
}

std::string locals_text(const char* label, const std::vector<std::uint32_t>& locals) {
  return locals.empty() ? std::string() : fmt::format(" {}={}", label, fmt::join(locals, ","));
}

std::string points_text(std::string_view name, const std::vector<SourcePoint>& points) {
  std::string text = fmt::format("    {}", name);
  for (const SourcePoint& point : points) text += fmt::format(" {}:{}", point.line, point.column);
  return text + "\n";
}

}  // namespace

std::string dump_event(const Event& event, const UnitFacts& unit) {
  return std::visit(Printer{unit}, event.what);
}

std::string dump_function(const FunctionFacts& function, const UnitFacts& unit, const DumpOptions& options) {
  std::string text =
      fmt::format("function {} [{}]{}\n  {}:{}-{}\n", function.name, function.usr, flags_text(function.flags),
                  function.file, function.begin_line, function.end_line);
  for (const std::string& name : function.linkage_names) text += fmt::format("  symbol {}\n", name);
  if (options.hashes)
    text += fmt::format("  signature {:016x} body {:016x}\n", function.signature, function.body);
  for (std::size_t i = 0; i < function.locals.size(); ++i) {
    const Local& local = function.locals[i];
    text += fmt::format("  local {} {}{}{}{}\n", i, local.name.empty() ? "(value)" : local.name,
                        local.parameter ? " parameter" : "", local.static_storage ? " static" : "",
                        local.escapes ? " escapes" : "");
  }
  const auto points = std::find_if(unit.points.begin(), unit.points.end(),
                                   [&](const FunctionPoints& p) { return p.function == function.id; });
  for (const Block& block : function.blocks) {
    text += fmt::format("  block {}{}{}\n", block.ordinal, block.ordinal == function.entry ? " entry" : "",
                        block.ordinal == function.exit ? " exit" : "");
    for (const Element& element : block.elements) {
      text += fmt::format("    {}:{}", element.at.line, element.at.column);
      if (options.hashes) text += fmt::format(" {:016x}", element.hash);
      text += locals_text("locals", element.locals) + locals_text("defines", element.defines) +
              locals_text("uses", element.uses) + "\n";
      for (const Event& event : element.events)
        text += fmt::format("      {}:{} {}\n", event.at.line, event.at.column, dump_event(event, unit));
    }
    if (options.points && points != unit.points.end())
      for (const BlockPoints& candidate : points->blocks) {
        if (candidate.ordinal != block.ordinal) continue;
        text += points_text("points", candidate.points);
        if (!candidate.gcc_points.empty()) text += points_text("gcc points", candidate.gcc_points);
      }
    for (const Edge& edge : block.successors)
      text += fmt::format("    -> {}{}{}\n", edge.target, edge.kind == EdgeKind::FallThrough ? "" : " ",
                          name_of(edge.kind, kEdges));
  }
  return text;
}

std::string dump_unit(const UnitFacts& unit, const DumpOptions& options) {
  std::string text = fmt::format("unit {}\n", unit.path);
  for (const FunctionFacts& function : unit.functions) text += dump_function(function, unit, options);
  for (const VariableFacts& variable : unit.variables)
    text +=
        fmt::format("variable {} : {} ({}) {}:{} traits {}\n", variable.name, variable.type,
                    name_of(variable.kind, kVariableKinds), variable.file, variable.at.line, variable.traits);
  return text;
}

}  // namespace simrt::analysis
