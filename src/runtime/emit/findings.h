// What the detector finds, as records of the run file: RunStack, RunLockSet, RunVariable, RunRace,
// RunRacySites, RunLockCycle, RunAtomicity.
#pragma once

#include <stdint.h>

#include "detect/finding.h"
#include "detect/watch.h"
#include "emit/run_file.h"

namespace simrt::rt {

/// Called by the detector under its report lock, which guards the fields.
class FindingWriter final : public detect::Sink {
 public:
  /// At most `limit` findings of each kind are written (0 = a default); then flag FindingsCut.
  void start(uint32_t detectors, uint32_t limit);
  /// In the child of a fork server: numbers start anew.
  void begin_execution();

  void race(const detect::Race& race) override;
  void racy_site(const detect::RacySite& site) override;
  void lock_cycle(const detect::LockCycle& cycle) override;
  void unserialisable(const detect::Unserialisable& triple) override;
  void doubt(uint32_t unserialisable) override;

  /// How many races this execution has shown so far, not counting what was only predicted; and calls
  /// `visit(first_pc, second_pc)` for those behind `seen`, of which the latest few are remembered.
  uint32_t witnessed() const { return __atomic_load_n(&witnessed_, __ATOMIC_ACQUIRE); }
  template <class Visit>
  void each_witnessed(uint32_t seen, Visit visit) const {
    const uint32_t count = witnessed();
    for (uint32_t i = count - seen > kLatest ? count - kLatest : seen; i != count; ++i)
      visit(latest_[i % kLatest].first, latest_[i % kLatest].second);
  }

 private:
  static constexpr uint32_t kMost = 4096, kLatest = 64;

  struct Sites {
    uint64_t first, second;
  };

  struct Known {
    format::RunRace* record;
    uint32_t variable;
  };
  struct Variable {
    uint64_t address;
    uint32_t id;
  };

  uint32_t variable_of(const detect::Race& race);
  bool room(uint32_t written);

  uint32_t detectors_ = 0, limit_ = 0;
  uint32_t races_ = 0, cycles_ = 0, triples_ = 0, variables_ = 0;
  Known known_[kMost] = {};  // by the detector's number of the race
  Variable variable_[kMost] = {};
  Sites latest_[kLatest] = {};
  uint32_t witnessed_ = 0;
  format::RunAtomicity* triple_[kMost] = {};  // by the detector's number
};

/// Starts the detector as the plan says, and writes its findings to the run file. On the first thread, before
/// the program's own code. `watch`: see detect::Options; in mode detect the hooks it does not have are taken
/// out of the code. False when there is no room for the shadow memory.
bool start_detector(const format::PlanHeader& plan, bool partial, const detect::Watch* watch = nullptr);

/// Behind dlopen: takes hooks out of what has come. Not while other threads run, who may be in the new code:
/// then its hooks ask each time.
void patch_new_modules();

extern FindingWriter finding_writer;

}  // namespace simrt::rt
