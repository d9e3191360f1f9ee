// gcc's assembly with the coverage hook in line. Pure: text in, text out. x86-64, AT&T syntax.
//
// gcc has no table of guards and calls a hook at every block. Here each call becomes one store into the
// thread's map, and the object gets what clang would have put there: a guard and a table entry a block, in
// the sections
// __sancov_guards and __sancov_pcs (in the function's comdat group, so that they are dropped with it). To the
// runtime and to the mapping such a module is one of clang's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace simrt::wrappers {

/// Nothing when the text holds something that this cannot be sure about: the hook used other than by a direct
/// call, inline assembly that names it or changes the section, Intel syntax. The stores change r10 and r11,
/// no flags and no stack; a call may change more, so they may stand wherever one stood.
std::optional<std::string> inline_hook_calls(std::string_view assembly);

}  // namespace simrt::wrappers
