#include "testing/check_plan.h"

#include <cstring>

namespace simrt::testing {
namespace {

using format::PlanKind;

std::string raw_bytes(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return out;
}

class Bytes {
 public:
  template <class Record>
  void add(const Record& record) {
    const auto* begin = reinterpret_cast<const std::byte*>(&record);
    out_.insert(out_.end(), begin, begin + sizeof record);
  }
  void add(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    out_.insert(out_.end(), begin, begin + text.size());
  }
  void begin_chunk(PlanKind kind) {
    chunk_ = out_.size();
    add(format::ChunkHeader{static_cast<std::uint32_t>(kind), 0, 0});
  }
  void end_chunk() {
    while (out_.size() % format::kPlanAlign != 0) out_.push_back(std::byte{0});
    const std::uint64_t bytes = out_.size() - chunk_;
    std::memcpy(out_.data() + chunk_ + offsetof(format::ChunkHeader, bytes), &bytes, sizeof bytes);
  }
  std::vector<std::byte> take() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }
  std::byte* data() { return out_.data(); }

 private:
  std::vector<std::byte> out_;
  std::size_t chunk_ = 0;
};

format::PlanSite site_of(const CheckSite& site) { return {site.module, 0, site.offset}; }

template <class Record, class Items, class Convert>
void add_list(Bytes& out, PlanKind kind, const Items& items, Convert convert) {
  if (items.empty()) return;
  out.begin_chunk(kind);
  out.add(Record{static_cast<std::uint32_t>(items.size()), 0});
  for (const auto& item : items) out.add(convert(item));
  out.end_chunk();
}

format::PlanHeader header_of(const CheckPlan& plan) {
  format::PlanHeader header = {};
  header.mode = plan.mode;
  header.strategy = plan.strategy;
  header.flags = plan.flags;
  header.detectors = plan.detectors;
  header.seed = plan.seed;
  header.walk = plan.walk;
  header.depth = plan.depth;
  header.bound = plan.bound;
  header.length = plan.length;
  header.hold = plan.hold;
  header.max_points = plan.max_points;
  header.max_milliseconds = plan.max_milliseconds;
  header.processor = plan.processor;
  header.findings_limit = plan.findings_limit;
  header.epoch_ns = plan.epoch_ns;
  header.short_sleep_ns = plan.short_sleep_ns;
  return header;
}

}  // namespace

std::vector<std::byte> plan_bytes(const CheckPlan& plan) {
  Bytes out;
  out.add(header_of(plan));
  for (std::uint32_t i = 0; i < plan.modules.size(); ++i) {
    const std::string id = raw_bytes(plan.modules[i].build_id);
    out.begin_chunk(PlanKind::Module);
    out.add(format::PlanModule{i, static_cast<std::uint32_t>(plan.modules[i].path.size()),
                               static_cast<std::uint32_t>(id.size()), 0});
    out.add(plan.modules[i].path);
    out.add(id);
    out.end_chunk();
  }
  add_list<format::PlanSites>(out, PlanKind::Sites, plan.watched, site_of);
  add_list<format::PlanPairs>(out, PlanKind::Pairs, plan.pairs, [](const CheckPair& pair) {
    return format::PlanPair{site_of(pair.first), site_of(pair.second), pair.first_then_second ? 1u : 0u, 0,
                            pair.first_calls,    pair.second_calls};
  });
  add_list<format::PlanSequence>(out, PlanKind::Sequence, plan.steps, [](const CheckStep& step) {
    return format::PlanStep{site_of(step.site), step.role,   step.kind,    0,
                            step.variable,      step.thread, step.address, step.calls};
  });
  add_list<format::PlanSchedule>(out, PlanKind::Schedule, plan.schedule,
                                 [](const auto& item) { return item; });
  add_list<format::PlanWeights>(out, PlanKind::Weights, plan.weights,
                                [](std::uint64_t weight) { return weight; });
  add_list<format::PlanCuts>(out, PlanKind::Cuts, plan.cuts, [](const auto& cut) { return cut; });
  const std::uint64_t bytes = out.size();
  std::memcpy(out.data() + offsetof(format::PlanHeader, bytes), &bytes, sizeof bytes);
  return out.take();
}

}  // namespace simrt::testing
