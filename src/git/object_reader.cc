#include "git/object_reader.h"

#include <utility>

namespace simrt::git {

OdbHandle ObjectReader::take() const {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      OdbHandle handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  git_odb* raw = nullptr;
  if (git_odb_open(&raw, objects_.c_str()) < 0) return nullptr;
  return OdbHandle(raw);
}

void ObjectReader::give_back(OdbHandle handle) const {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(handle));
}

std::optional<std::string> ObjectReader::read(const git_oid& id) const {
  OdbHandle odb = take();
  if (!odb) return std::nullopt;
  git_odb_object* raw = nullptr;
  std::optional<std::string> bytes;
  if (git_odb_read(&raw, odb.get(), &id) == 0) {
    const OdbObjectHandle object(raw);
    bytes.emplace(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
  }
  give_back(std::move(odb));
  return bytes;
}

std::optional<std::uint64_t> ObjectReader::size(const git_oid& id) const {
  OdbHandle odb = take();
  if (!odb) return std::nullopt;
  std::size_t length = 0;
  git_object_t type{};
  const int rc = git_odb_read_header(&length, &type, odb.get(), &id);
  give_back(std::move(odb));
  if (rc != 0) return std::nullopt;
  return length;
}

}  // namespace simrt::git
