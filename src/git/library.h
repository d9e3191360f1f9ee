// libgit2 as RAII handles and as this project's errors. Only files of this folder include it.
#pragma once

#include <git2.h>

#include <memory>
#include <string>
#include <string_view>

#include "support/result.h"

namespace simrt::git {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Freer<Free>>;

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using ObjectHandle = Handle<git_object, git_object_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using IndexHandle = Handle<git_index, git_index_free>;
using DiffHandle = Handle<git_diff, git_diff_free>;
using PatchHandle = Handle<git_patch, git_patch_free>;
using StatusHandle = Handle<git_status_list, git_status_list_free>;
using OdbHandle = Handle<git_odb, git_odb_free>;
using OdbObjectHandle = Handle<git_odb_object, git_odb_object_free>;
using FilterHandle = Handle<git_filter_list, git_filter_list_free>;
using SubmoduleHandle = Handle<git_submodule, git_submodule_free>;

/// Starts libgit2 once per process and tells it which repository extensions this tool can live with.
/// Thread-safe.
void initialise_library();

/// "<what>: <libgit2's last message of this thread>" as a Repository error with a way out that fits `code`.
Error library_error(int code, std::string what);

std::string hex(const git_oid& id);
/// False unless `text` is a full hexadecimal object id.
bool parse_id(std::string_view text, git_oid& id);

/// Path without a trailing slash, as libgit2 reports directories with one.
std::string without_slash(const char* path);

}  // namespace simrt::git
