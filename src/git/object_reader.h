// Blob contents and sizes from one object database, for many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "git/library.h"

namespace simrt::git {

/// libgit2 lets threads share a database handle only behind its own locks; one handle a running thread scales
/// and needs no assumption about them. Handles are made on demand and kept. Thread-safe.
class ObjectReader {
 public:
  /// `objects` is the directory of the object database (".git/objects"); alternates are followed.
  explicit ObjectReader(std::string objects) : objects_(std::move(objects)) {}

  std::optional<std::string> read(const git_oid& id) const;
  std::optional<std::uint64_t> size(const git_oid& id) const;

 private:
  OdbHandle take() const;
  void give_back(OdbHandle handle) const;

  std::string objects_;
  mutable std::mutex mutex_;
  mutable std::vector<OdbHandle> idle_;
};

}  // namespace simrt::git
