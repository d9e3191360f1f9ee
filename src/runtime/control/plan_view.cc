#include "control/plan_view.h"

#include "emit/run_file.h"
#include "emit/run_modules.h"

namespace simrt::rt::control {
namespace {

using format::ChunkHeader;
using format::PlanKind;

struct Chunk {
  PlanKind kind;
  const char* record;
  uint64_t bytes;  // of record and payload
};

// The record of a chunk that has `count` items of type Item behind it; null when it does not fit.
template <class Record, class Item>
const Record* counted(const Chunk& chunk) {
  if (chunk.bytes < sizeof(Record)) return nullptr;
  const auto* record = reinterpret_cast<const Record*>(chunk.record);
  return record->count <= (chunk.bytes - sizeof(Record)) / sizeof(Item) ? record : nullptr;
}

template <class Visit>
bool for_each_chunk(const char* begin, uint64_t bytes, Visit visit) {
  uint64_t at = 0;
  while (at < bytes) {
    const auto* header = reinterpret_cast<const ChunkHeader*>(begin + at);
    if (bytes - at < sizeof *header || header->bytes < sizeof *header || header->bytes > bytes - at ||
        header->bytes % format::kPlanAlign != 0) {
      return false;
    }
    if (!visit(Chunk{static_cast<PlanKind>(header->kind), begin + at + sizeof *header,
                     header->bytes - sizeof *header})) {
      return false;
    }
    at += header->bytes;
  }
  return true;
}

template <class T>
T* allocate_array(uint64_t count) {
  return static_cast<T*>(runtime::allocate((count == 0 ? 1 : count) * sizeof(T)));
}

void watch_libraries(detect::Watch& watch) {
  for (uint32_t i = 0; i < module_count(); ++i) {
    const LoadedModule& module = module_at(i);
    if (is_cxx_library(module.path.text)) watch.add_library(module.text_begin, module.text_end);
  }
}

}  // namespace

uintptr_t PlanView::address_of(uint32_t module, uint64_t offset) const {
  return module < modules_ && loaded_[module] ? biases_[module] + offset : 0;
}

bool PlanView::read() {
  header = run_file.plan();
  settings = {};
  settings.seed = header.seed;
  settings.walk = header.walk;
  settings.length = header.length;
  settings.hold = header.hold;
  settings.depth = header.depth;
  schedule = nullptr;
  schedule_count = 0;
  modules_ = 0;
  if ((header.flags & format::kPlanSynchronizationOnly) != 0 ||
      (header.flags & format::kPlanWatchedAlways) != 0) {
    watch.reset(true, 0);
  } else {
    watch.reset(false, 0);
  }

  const auto on_module = [this](const Chunk& chunk) {
    if (chunk.bytes < sizeof(format::PlanModule)) return false;
    const auto& record = *reinterpret_cast<const format::PlanModule*>(chunk.record);
    if (record.index != modules_ || modules_ == kMaxModules ||
        uint64_t{record.path_bytes} + record.build_id_bytes > chunk.bytes - sizeof record) {
      return false;
    }
    const LoadedModule* module = module_named(record, chunk.record + sizeof record);
    loaded_[modules_] = module != nullptr;
    biases_[modules_] = module != nullptr ? module->bias : 0;
    ++modules_;
    return true;
  };
  const auto on_sites = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanSites, format::PlanSite>(chunk);
    if (record == nullptr) return false;
    const auto* sites = reinterpret_cast<const format::PlanSite*>(record + 1);
    const bool filters = record->count > 0 || watch.filters();
    if (!watch.reset(filters, record->count)) return false;
    if ((header.flags & format::kPlanSynchronizationOnly) != 0) return true;
    if ((header.flags & format::kPlanSitesIgnored) != 0) watch.invert();
    for (uint32_t i = 0; i < record->count; ++i) watch.add(address_of(sites[i].module, sites[i].offset));
    if ((header.flags & format::kPlanWatchLibraries) != 0) watch_libraries(watch);
    return true;
  };
  const auto on_pairs = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanPairs, format::PlanPair>(chunk);
    auto* pairs = record != nullptr ? allocate_array<SitePair>(record->count) : nullptr;
    if (pairs == nullptr) return false;
    const auto* items = reinterpret_cast<const format::PlanPair*>(record + 1);
    for (uint32_t i = 0; i < record->count; ++i) {
      pairs[i] = {address_of(items[i].first.module, items[i].first.offset),
                  address_of(items[i].second.module, items[i].second.offset), items[i].first_then_second != 0,
                  items[i].first_calls, items[i].second_calls};
    }
    settings.pairs = pairs;
    settings.pair_count = record->count;
    return true;
  };
  const auto on_sequence = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanSequence, format::PlanStep>(chunk);
    auto* steps = record != nullptr ? allocate_array<Step>(record->count) : nullptr;
    if (steps == nullptr) return false;
    const auto* items = reinterpret_cast<const format::PlanStep*>(record + 1);
    for (uint32_t i = 0; i < record->count; ++i) {
      steps[i] = {address_of(items[i].site.module, items[i].site.offset),
                  items[i].role,
                  items[i].variable,
                  items[i].thread,
                  items[i].kind,
                  static_cast<uintptr_t>(items[i].address),

                  items[i].calls};
    }
    settings.steps = steps;
    settings.step_count = record->count;
    return true;
  };
  const auto on_schedule = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanSchedule, format::ScheduleItem>(chunk);
    if (record == nullptr) return false;
    schedule = reinterpret_cast<const format::ScheduleItem*>(record + 1);
    schedule_count = record->count;
    return true;
  };
  const auto on_weights = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanWeights, uint64_t>(chunk);
    if (record == nullptr) return false;
    settings.weights = reinterpret_cast<const uint64_t*>(record + 1);
    settings.weight_count = record->count;
    return true;
  };
  const auto on_cuts = [this](const Chunk& chunk) {
    const auto* record = counted<format::PlanCuts, format::PlanCut>(chunk);
    if (record == nullptr) return false;
    settings.cuts = reinterpret_cast<const format::PlanCut*>(record + 1);
    settings.cut_count = record->count;
    return true;
  };
  const char* begin = reinterpret_cast<const char*>(&run_file.plan());
  return for_each_chunk(begin + sizeof header, header.bytes - sizeof header, [&](const Chunk& chunk) {
    switch (chunk.kind) {
      case PlanKind::Module:
        return on_module(chunk);
      case PlanKind::Sites:
        return on_sites(chunk);
      case PlanKind::Pairs:
        return on_pairs(chunk);
      case PlanKind::Sequence:
        return on_sequence(chunk);
      case PlanKind::Schedule:
        return on_schedule(chunk);
      case PlanKind::Weights:
        return on_weights(chunk);
      case PlanKind::Cuts:
        return on_cuts(chunk);
    }
    return false;
  });
}

}  // namespace simrt::rt::control
