// Hand-made executions for the tests of this folder.
#pragma once

#include <string>

#include "model/execution.h"

namespace simrt::schedule {

class ExecutionBuilder {
 public:
  ExecutionBuilder& step(ThreadIndex thread, EventKind kind, std::uint64_t object, const std::string& site,
                         std::uint32_t size = 4) {
    while (execution_.threads.size() <= thread) {
      const std::string name = "t" + std::to_string(execution_.threads.size());
      execution_.threads.push_back({role_id(name), execution_.threads.empty() ? kNoThread : 0});
    }
    ExecutionEvent event;
    event.object = object;
    event.site = site_id(site);
    event.size = size;
    event.thread = thread;
    event.kind = kind;
    ThreadSet enabled;
    for (ThreadIndex t = 0; t < execution_.threads.size(); ++t) enabled.insert(t);
    execution_.decisions.push_back({execution_.events.size(), enabled, thread});
    execution_.events.push_back(event);
    return *this;
  }
  ExecutionBuilder& read(ThreadIndex thread, std::uint64_t object, const std::string& site) {
    return step(thread, EventKind::Read, object, site);
  }
  ExecutionBuilder& write(ThreadIndex thread, std::uint64_t object, const std::string& site) {
    return step(thread, EventKind::Write, object, site);
  }
  ExecutionBuilder& lock(ThreadIndex thread, std::uint64_t mutex, const std::string& site = "lock") {
    return step(thread, EventKind::Lock, mutex, site, 0);
  }
  ExecutionBuilder& unlock(ThreadIndex thread, std::uint64_t mutex, const std::string& site = "unlock") {
    return step(thread, EventKind::Unlock, mutex, site, 0);
  }
  Execution& get() { return execution_; }

 private:
  Execution execution_;
};

}  // namespace simrt::schedule
