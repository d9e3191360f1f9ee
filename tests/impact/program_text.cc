#include "program_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "support/hash.h"

namespace simrt::impact {
namespace {

std::string trim(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  std::size_t start = 0;
  while (start < text.size() && blank(text[start])) ++start;
  return text.substr(start);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream in(text);
  while (std::getline(in, part, separator))
    if (!trim(part).empty()) parts.push_back(trim(part));
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::uint32_t label_number(const std::string& label) {
  return static_cast<std::uint32_t>(std::stoul(label.substr(1)));
}

MemoryOrder order_named(const std::string& name) {
  if (name == "relaxed") return MemoryOrder::Relaxed;
  if (name == "acquire") return MemoryOrder::Acquire;
  if (name == "release") return MemoryOrder::Release;
  if (name == "acq_rel") return MemoryOrder::AcqRel;
  if (name == "seq_cst") return MemoryOrder::SeqCst;
  throw std::invalid_argument("order " + name);
}

class Parser {
 public:
  UnitFacts parse(const std::string& text) {
    unit_.path = "unit.cc";
    std::istringstream in(text);
    std::uint32_t line_number = 0;
    for (std::string line; std::getline(in, line);) {
      ++line_number;
      line = trim(line);
      if (line.empty() || line.rfind("//", 0) == 0) continue;
      if (line.rfind("var ", 0) == 0)
        variable(line.substr(4));
      else if (line.rfind("fn ", 0) == 0)
        begin_function(line.substr(3), line_number);
      else if (line[0] == 'B' && line.find("->") != std::string::npos)
        block(line);
      else
        statement(line, line_number);
    }
    finish_function();
    return std::move(unit_);
  }

 private:
  void variable(const std::string& text) {
    const auto parts = words(text);
    VariableFacts facts;
    facts.name = parts[0];
    facts.id = parts[0].rfind("return:", 0) == 0 ? return_of(function_id(parts[0].substr(7)))
                                                 : variable_id(parts[0]);
    if (parts[0].rfind("return:", 0) == 0)
      facts.kind = VariableKind::Return;
    else
      facts.kind = parts[0].find("::") != std::string::npos ? VariableKind::Field : VariableKind::Global;
    facts.type = parts.size() > 1 ? parts[1] : "int";
    for (char& c : facts.type)
      if (c == '_' && facts.type.rfind("unsigned_", 0) == 0) c = ' ';
    for (std::size_t i = 2; i < parts.size(); ++i) {
      if (parts[i] == "atomic") facts.traits |= kAtomic;
      if (parts[i] == "const") facts.traits |= kConst;
      if (parts[i] == "thread_local") facts.traits |= kThreadLocal;
      if (parts[i] == "mutex") facts.traits |= kMutex;
      if (parts[i] == "bits") {
        facts.traits |= kBitField;
        facts.shares = hash_bytes(facts.name.substr(0, facts.name.rfind("::")));
      }
      if (parts[i].rfind("shares=", 0) == 0) facts.shares = hash_bytes(parts[i]);
    }
    facts.file = "vars.h";
    facts.at = {1, 1};
    unit_.variables.push_back(facts);
  }

  void begin_function(const std::string& text, std::uint32_t line) {
    finish_function();
    const std::size_t open = text.find('('), close = text.find(')');
    function_ = FunctionFacts{};
    function_->name = function_->usr = trim(text.substr(0, open));
    function_->id = function_id(function_->usr);
    function_->file = "a.cc";
    function_->begin_line = function_->end_line = line;
    locals_.clear();
    const auto add = [&](std::string name, bool parameter) {
      Local local;
      local.parameter = parameter;
      if (name.back() == '!') local.escapes = true, name.pop_back();
      if (name.front() != '%') local.name = name;
      locals_[name] = static_cast<std::uint32_t>(function_->locals.size());
      function_->locals.push_back(local);
    };
    for (const std::string& name : split(text.substr(open + 1, close - open - 1), ',')) add(name, true);
    for (const std::string& word : words(text.substr(close + 1))) {
      if (word == "!lambda")
        function_->flags |= kLambda;
      else if (word == "!ctor")
        function_->flags |= kConstructor;
      else if (word == "!dtor")
        function_->flags |= kDestructor;
      else if (word == "!static")
        function_->flags |= kStaticInit;
      else if (word == "!broken")
        function_->flags |= kBroken;
      else if (word.rfind("in=", 0) == 0)
        function_->parent = function_id(word.substr(3));
      else if (word.rfind("overrides=", 0) == 0)
        function_->overrides.push_back(function_id(word.substr(10)));
      else if (word.rfind("pattern=", 0) == 0)
        function_->pattern = function_id(word.substr(8));
      else if (word.rfind("file=", 0) == 0)
        function_->file = word.substr(5);
      else
        add(word, false);
    }
    body_ = "";
  }

  void block(const std::string& line) {
    const std::size_t arrow = line.find("->");
    const auto heads = split(line.substr(0, arrow), '=');
    Block block;
    block.ordinal = label_number(heads[0]);
    // The differ finds "B4=B1" again in the terminator's upper half.
    block.terminator = heads.size() > 1 ? std::uint64_t{label_number(heads[1]) + 1} << 32 : 0;
    for (const std::string& part : split(line.substr(arrow + 2), ',')) {
      const auto target = words(part);
      Edge edge;
      edge.target = label_number(target[0]);
      if (target.size() > 1) edge.kind = target[1] == "T" ? EdgeKind::True : EdgeKind::False;
      block.successors.push_back(edge);
    }
    if (function_->blocks.empty()) function_->entry = block.ordinal;
    function_->blocks.push_back(block);
    body_ += line.substr(arrow) + "\n";
  }

  void statement(const std::string& line, std::uint32_t line_number) {
    Element element;
    const std::size_t behind = line.find('|');
    const std::string code = trim(line.substr(0, behind));
    element.hash = hash_bytes(code);
    element.at = {line_number, 3};
    std::string rest = code;
    if (rest[0] == '#') rest = trim(rest.substr(rest.find(' ')));
    std::uint32_t column = 3;
    if (behind != std::string::npos) rest += ";" + line.substr(behind + 1);
    for (const std::string& part : split(rest, ';')) event(part, element, {line_number, column++});
    function_->blocks.back().elements.push_back(element);
    tags_[element.hash] = line[0] == '#' ? line.substr(0, line.find(' ')) : "";
    body_ += code + "\n";
  }

  void event(const std::string& text, Element& element, SourcePoint at) {
    const auto parts = words(text);
    const std::string& kind = parts[0];
    const std::string rest = trim(text.substr(kind.size()));
    const auto emit = [&](auto what) { element.events.push_back({at, std::move(what)}); };
    if (kind == "text") return;
    if (kind == "def") return element.defines.push_back(local(rest));
    if (kind == "use") return element.uses.push_back(local(rest));
    if (kind == "R" || kind == "W") {
      Access access;
      access.place = place(parts[1]);
      access.mode = kind == "R" ? AccessMode::Read : AccessMode::Write;
      for (std::size_t i = 2; i < parts.size(); ++i) {
        if (parts[i] == "const")
          access.tags |= kTagConstObject;
        else if (parts[i] == "tls")
          access.tags |= kTagThreadLocal;
        else if (parts[i] == "own")
          access.tags |= kTagOwnConstructor;
        else if (parts[i] == "whole")
          access.tags |= kTagWholeObject;
        else
          access.order = order_named(parts[i]);
      }
      return emit(access);
    }
    if (kind == "bind") {
      const std::size_t assign = rest.find(":=");
      return emit(Binding{place(trim(rest.substr(0, assign))), value(trim(rest.substr(assign + 2)))});
    }
    if (kind == "call" || kind == "vcall" || kind == "icall" || kind == "pcall" || kind == "cb" ||
        kind == "spawn")
      return emit(call(kind, rest));
    if (const auto lock = lock_operation(parts)) return emit(*lock);
    emit(order_operation(parts));
  }

  std::uint32_t local(const std::string& name) const {
    const auto at = locals_.find(name);
    if (at == locals_.end()) throw std::invalid_argument("no local " + name + " in " + function_->name);
    return at->second;
  }

  Place place(std::string text) const {
    Place place;
    while (text.back() == '*') ++place.derefs, text.pop_back();
    const std::size_t dot = text.find('.');
    if (dot != std::string::npos) {
      std::string head = text.substr(0, dot);
      std::size_t last = text.rfind('.');
      std::string instance = text.substr(0, last);
      if (const auto known = locals_.find(head); known != locals_.end())
        instance = (function_->locals[known->second].parameter ? "p" : "l") + std::to_string(known->second) +
                   (last == dot ? "" : "->" + instance.substr(dot + 1));
      place.instance = instance;
      place.base = variable_id(text.substr(last + 1));
      return place;
    }
    if (const auto known = locals_.find(text); known != locals_.end()) {
      place.base = function_->locals[known->second].parameter ? parameter_of(function_->id, known->second)
                                                              : local_of(function_->id, known->second);
    } else if (text == "this") {
      place.base = receiver_of(function_->id);
    } else if (text == "return") {
      place.base = return_of(function_->id);
    } else if (text.rfind("return:", 0) == 0) {
      place.base = return_of(function_id(text.substr(7)));
    } else if (text.rfind("local:", 0) == 0) {  // local:function:ordinal, a captured one
      const auto parts = split(text, ':');
      place.base = local_of(function_id(parts[1]), static_cast<std::uint32_t>(std::stoul(parts[2])));
    } else {
      place.base = variable_id(text);
    }
    return place;
  }

  Value value(const std::string& text) const {
    if (text == "0") return {};
    if (text[0] == '&') return {place(text.substr(1)), true};
    return {place(text), false};
  }

  Call call(const std::string& kind, const std::string& text) const {
    Call call;
    const std::size_t open = text.find('('), close = text.find(')');
    call.name = text.substr(0, open);
    if (kind != "icall" && kind != "pcall") call.callee = function_id(call.name);
    call.kind = kind == "call"    ? CallKind::Direct
                : kind == "vcall" ? CallKind::Virtual
                : kind == "cb"    ? CallKind::Callback
                : kind == "spawn" ? CallKind::Spawn
                : kind == "pcall" ? CallKind::Pointer
                                  : CallKind::Indirect;
    for (const std::string& argument : split(text.substr(open + 1, close - open - 1), ','))
      call.arguments.push_back(value(argument));
    const std::string rest = trim(text.substr(close + 1));
    if (rest.rfind("on ", 0) == 0) call.receiver = value(trim(rest.substr(3)));
    return call;
  }

  std::optional<LockOp> lock_operation(const std::vector<std::string>& parts) const {
    static const std::map<std::string, std::pair<LockAction, LockMode>> kinds = {
        {"lock", {LockAction::Acquire, LockMode::Exclusive}},
        {"slock", {LockAction::Acquire, LockMode::Shared}},
        {"unlock", {LockAction::Release, LockMode::Exclusive}},
        {"trylock", {LockAction::TryAcquire, LockMode::Exclusive}},
        {"guard", {LockAction::GuardBind, LockMode::Exclusive}},
        {"sguard", {LockAction::GuardBind, LockMode::Shared}},
        {"gadopt", {LockAction::GuardAdopt, LockMode::Exclusive}},
        {"defer", {LockAction::GuardDefer, LockMode::Exclusive}},
        {"gacq", {LockAction::GuardAcquire, LockMode::Exclusive}},
        {"grel", {LockAction::GuardRelease, LockMode::Exclusive}},
        {"gmove", {LockAction::GuardMove, LockMode::Exclusive}},
        {"assume", {LockAction::Assume, LockMode::Exclusive}}};
    const auto kind = kinds.find(parts[0]);
    if (kind == kinds.end()) return std::nullopt;
    LockOp op;
    op.action = kind->second.first;
    op.mode = kind->second.second;
    std::size_t next = 1;
    if (parts[0] == "guard" || parts[0] == "sguard" || parts[0][0] == 'g' || parts[0] == "defer")
      op.guard = place(parts[next++]);
    if (op.action == LockAction::GuardMove) op.source = place(parts[next++]);
    for (; next < parts.size(); ++next) op.locks.push_back(place(parts[next]));
    return op;
  }

  OrderOp order_operation(const std::vector<std::string>& parts) const {
    static const std::map<std::string, OrderKind> kinds = {{"fence", OrderKind::Fence},
                                                           {"wait", OrderKind::ConditionWait},
                                                           {"notify", OrderKind::NotifyOne},
                                                           {"join", OrderKind::ThreadJoin},
                                                           {"detach", OrderKind::ThreadDetach},
                                                           {"once", OrderKind::OnceCall},
                                                           {"start", OrderKind::ThreadSpawn},
                                                           {"get", OrderKind::FutureGet},
                                                           {"set", OrderKind::PromiseSet},
                                                           {"semacq", OrderKind::SemaphoreAcquire},
                                                           {"semrel", OrderKind::SemaphoreRelease},
                                                           {"arrive", OrderKind::LatchArrive},
                                                           {"latch", OrderKind::LatchWait},
                                                           {"barrier", OrderKind::BarrierWait},
                                                           {"static", OrderKind::StaticInit}};
    const auto kind = kinds.find(parts[0]);
    if (kind == kinds.end()) throw std::invalid_argument("event " + parts[0]);
    OrderOp op;
    op.kind = kind->second;
    if (op.kind == OrderKind::Fence)
      op.order = order_named(parts[1]);
    else if (parts.size() > 1)
      op.object = place(parts[1]);
    return op;
  }

  void finish_function() {
    if (!function_) return;
    function_->blocks.push_back(Block{});  // the exit
    function_->exit = 0;
    std::sort(function_->blocks.begin(), function_->blocks.end(),
              [](const Block& a, const Block& b) { return a.ordinal < b.ordinal; });
    function_->body = hash_bytes(body_);
    unit_.functions.push_back(*function_);
    function_.reset();
  }

  UnitFacts unit_;
  std::optional<FunctionFacts> function_;
  std::map<std::string, std::uint32_t> locals_;
  std::string body_;

 public:
  static std::map<std::uint64_t, std::string> tags_;  ///< element hash -> its #tag
};

std::map<std::uint64_t, std::string> Parser::tags_;

const Block* block_of(const FunctionFacts& function, std::uint32_t ordinal) {
  for (const Block& block : function.blocks)
    if (block.ordinal == ordinal) return &block;
  return nullptr;
}

/// Elements of one block pair: longest common subsequence by text, then by tag.
void diff_block(const Block& fresh, const Block& old, BlockDiff& result) {
  const std::size_t rows = fresh.elements.size(), columns = old.elements.size();
  const auto tag = [](const Element& element) { return Parser::tags_[element.hash]; };
  const auto match = [&](std::size_t i, std::size_t j) {
    if (fresh.elements[i].hash == old.elements[j].hash) return 2;
    return !tag(fresh.elements[i]).empty() && tag(fresh.elements[i]) == tag(old.elements[j]) ? 1 : 0;
  };
  std::vector<std::vector<int>> best(rows + 1, std::vector<int>(columns + 1, 0));
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      best[i][j] =
          std::max({best[i + 1][j], best[i][j + 1], match(i, j) ? best[i + 1][j + 1] + match(i, j) : 0});
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (match(i, j) && best[i][j] == best[i + 1][j + 1] + match(i, j)) {
      result.elements[i] = {match(i, j) == 2 ? ElementStatus::Same : ElementStatus::Altered, old.ordinal,
                            static_cast<std::uint32_t>(j)};
      ++i, ++j;
    } else if (best[i][j] == best[i + 1][j]) {
      ++i;
    } else {
      ++j;
    }
  }
}

FunctionDiff diff_function(const FunctionFacts& old, const FunctionFacts& fresh) {
  FunctionDiff diff{fresh.id, old.id, FunctionStatus::Changed, {}, {}, {}};
  std::set<std::pair<std::uint32_t, std::uint32_t>> matched;
  for (const Block& block : fresh.blocks) {
    BlockDiff result;
    result.ordinal = block.ordinal;
    result.elements.assign(block.elements.size(), {ElementStatus::Added, kNoMatch, kNoMatch});
    const auto mapped = static_cast<std::uint32_t>(block.terminator >> 32);
    const Block* partner = mapped ? nullptr : block_of(old, block.ordinal);
    result.old_ordinal = mapped ? mapped - 1 : partner ? block.ordinal : kNoMatch;
    result.dangerous = !partner;
    if (partner) diff_block(block, *partner, result);
    for (const ElementDiff& element : result.elements)
      if (element.old_block != kNoMatch) matched.insert({element.old_block, element.old_element});
    diff.blocks.push_back(result);
  }
  for (const Block& block : old.blocks)
    for (std::uint32_t e = 0; e < block.elements.size(); ++e)
      if (!matched.contains({block.ordinal, e})) diff.removed.push_back({block.ordinal, e});
  return diff;
}

}  // namespace

Program parse_program(const std::string& text) { return unite({Parser().parse(text)}); }

ProgramDiff diff_texts(const Program& before, const Program& after) {
  ProgramDiff diff;
  for (const FunctionFacts& fresh : after.functions) {
    const FunctionFacts* old = before.function(fresh.id);
    if (!old)
      diff.functions.push_back({fresh.id, {}, FunctionStatus::Added, {}, {}, {}});
    else if (old->body != fresh.body || old->flags != fresh.flags)
      diff.functions.push_back(diff_function(*old, fresh));
  }
  for (const FunctionFacts& old : before.functions)
    if (!after.function(old.id))
      diff.functions.push_back({old.id, old.id, FunctionStatus::Removed, {}, {}, {}});
  std::sort(diff.functions.begin(), diff.functions.end(),
            [](const FunctionDiff& a, const FunctionDiff& b) { return a.id < b.id; });
  for (const VariableFacts& fresh : after.variables) {
    const VariableFacts* old = before.variable(fresh.id);
    if (old && (old->type != fresh.type || old->traits != fresh.traits || old->shares != fresh.shares))
      diff.variables.push_back(fresh.id);
  }
  return diff;
}

std::uint32_t number_of(const Program& program, const std::string& name) {
  for (std::uint32_t f = 0; f < program.functions.size(); ++f)
    if (program.functions[f].name == name) return f;
  ADD_FAILURE() << "no function " << name;
  return 0;
}

}  // namespace simrt::impact
