// `simrt facts FILE`: what the analysis knows of one source, as text. For people who debug a selection, and
// for us.
#include <fmt/format.h>

#include <memory>

#include "analysis/extract/dump.h"
#include "cli/command.h"
#include "pipeline/commands.h"
#include "pipeline/workspace.h"

namespace simrt::cli {
namespace {

struct Flags {
  std::string file, revision = "HEAD";
  analysis::DumpOptions dump;
};

Result<int> run(const Flags& flags, const GlobalOptions& global) {
  const auto workspace = pipeline::open_workspace(global.directory, global.database);
  if (!workspace) return fail(workspace.error());
  const auto tree = workspace->repository.tree(flags.revision);
  if (!tree) return fail(tree.error());
  const auto database = pipeline::compile_commands(*workspace);
  if (!database) return fail(database.error());
  const pipeline::UnitCommands commands = pipeline::unit_commands(*database, {}, **tree, {}, workspace->root);
  const auto command = commands.by_path.find(flags.file);
  if (command == commands.by_path.end())
    return fail(ErrorCode::Usage,
                fmt::format("no compile command for '{}' at {}", flags.file, flags.revision),
                "give the path from the repository's root");
  const auto analyzer = pipeline::make_analyzer(*workspace, *tree, {}, nullptr);
  std::string out;
  for (const UnitFacts& unit : analyzer.analyse({command->second}, 1)) {
    for (const std::string& message : unit.messages) out += "! " + message + "\n";
    out += analysis::dump_unit(unit, flags.dump);
  }
  if (Status done = print(out); !done) return fail(done.error());
  return 0;
}

}  // namespace

void add_facts(Commands commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      commands.app.add_subcommand("facts", "Print what the analysis knows of one source file");
  command->group("");  // not in the list of subcommands
  command->add_option("file", flags->file, "Source file, from the repository's root")->required();
  command->add_option("--head", flags->revision, "Revision, or WORKTREE")->capture_default_str();
  command->add_flag("--hashes", flags->dump.hashes, "Element, body and signature hashes");
  command->add_flag("--points", flags->dump.points, "Source points of blocks");
  command->callback([flags, commands] {
    commands.chosen = [flags, &global = commands.global] { return run(*flags, global); };
  });
}

}  // namespace simrt::cli
