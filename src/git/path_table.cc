#include "git/path_table.h"

#include <algorithm>

namespace simrt::git {

namespace {
std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}
}  // namespace

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

PathTable::PathTable() {
  nodes_.emplace_back();
  index_.emplace("", kRoot);
}

std::size_t PathTable::directory(std::string_view path) {
  if (const auto known = index_.find(path); known != index_.end()) return known->second;
  const std::size_t parent = directory(parent_of(path));
  const std::size_t self = nodes_.size();
  nodes_.push_back({std::string(path), TreeEntry::Kind::Directory, 0, {}});
  nodes_[parent].children.push_back(self);
  index_.emplace(path, self);
  return self;
}

void PathTable::add(const std::string& path, TreeEntry::Kind kind, std::size_t value) {
  if (kind == TreeEntry::Kind::Directory) {
    directory(path);
    return;
  }
  if (index_.contains(path)) return;
  const std::size_t parent = directory(parent_of(path));
  nodes_[parent].children.push_back(nodes_.size());
  index_.emplace(path, nodes_.size());
  nodes_.push_back({path, kind, value, {}});
}

const PathTable::Node* PathTable::find(std::string_view path) const {
  const auto known = index_.find(path);
  return known == index_.end() ? nullptr : &nodes_[known->second];
}

std::vector<std::string> PathTable::files() const {
  std::vector<std::string> paths;
  for (const Node& node : nodes_) {
    if (node.kind != TreeEntry::Kind::Directory) paths.push_back(node.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace simrt::git
