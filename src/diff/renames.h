// File renames applied to function identities.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simrt::diff {

class Renames {
 public:
  explicit Renames(const std::vector<std::pair<std::string, std::string>>& renamed_files);
  bool empty() const { return new_of_.empty(); }
  /// The file's name in the new version.
  const std::string& renamed(const std::string& file) const;
  /// The USR in the new version. USRs of file-static and anonymous entities hold the file's path or its last
  /// component; both are replaced where they stand as a whole name. Equal to `usr` when nothing applies.
  std::string renamed_usr(std::string_view usr) const;

 private:
  std::map<std::string, std::string> new_of_;
};

}  // namespace simrt::diff
