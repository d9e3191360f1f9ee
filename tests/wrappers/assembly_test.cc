// The hook in line in gcc's assembly: what is written, and what is left to the call.
#include "wrappers/assembly.h"

#include <gmock/gmock.h>

#include <string>

namespace simrt::wrappers {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string inlined(const std::string& assembly) {
  const auto text = inline_hook_calls(assembly);
  EXPECT_TRUE(text) << assembly;
  return text.value_or("");
}

TEST(Assembly, EachCallBecomesAStoreWithAGuardAndATableEntry) {
  EXPECT_EQ(
      inlined("\t.text\n\t.type\tf, @function\nf:\n\tcall\t__sanitizer_cov_trace_pc\n\tnop\n"
              "\tcall\t__sanitizer_cov_trace_pc@PLT\n\tret\n"),
      "\t.text\n\t.type\tf, @function\nf:\n"
      ".Lsimrt_site0:\n\tmovq\tsimrt_guard_map@gottpoff(%rip), %r11\n\tleaq\t.Lsimrt_guards0+0(%rip), %r10\n"
      "\tmovq\t%fs:(%r11), %r11\n\tmovb\t$1, (%r10,%r11)\n\tnop\n"
      ".Lsimrt_site1:\n\tmovq\tsimrt_guard_map@gottpoff(%rip), %r11\n\tleaq\t.Lsimrt_guards0+4(%rip), %r10\n"
      "\tmovq\t%fs:(%r11), %r11\n\tmovb\t$1, (%r10,%r11)\n\tret\n"
      "\t.hidden\tsimrt_guard_map\n"
      "\t.section\t__sancov_guards,\"aw\",@progbits\n\t.p2align\t2\n.Lsimrt_guards0:\n\t.zero\t8\n"
      "\t.section\t__sancov_pcs,\"aw\",@progbits\n\t.p2align\t3\n"
      "\t.quad\t.Lsimrt_site0\n\t.quad\t1\n\t.quad\t.Lsimrt_site1\n\t.quad\t0\n");
}

// A template that several objects hold: its guards go with the copy that the linker drops.
TEST(Assembly, GuardsAreInTheGroupOfTheirFunction) {
  const std::string text = inlined(
      "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n\t.type\t_Z1fv, @function\n_Z1fv:\n"
      "\tcall\t__sanitizer_cov_trace_pc\n"
      "\t.text\n\t.type\tg, @function\ng:\n\tcall\t__sanitizer_cov_trace_pc\n"
      "\t.section\t.text.unlikely\n\t.type\tg.cold, @function\ng.cold:\n\tcall\t__sanitizer_cov_trace_pc\n");
  EXPECT_THAT(text, HasSubstr("\t.section\t__sancov_guards,\"awG\",@progbits,_Z1fv,comdat\n"));
  EXPECT_THAT(text, HasSubstr("\t.section\t__sancov_pcs,\"awG\",@progbits,_Z1fv,comdat\n\t.p2align\t3\n"
                              "\t.quad\t.Lsimrt_site0\n\t.quad\t1\n"));
  EXPECT_THAT(text, HasSubstr("\t.quad\t.Lsimrt_site1\n\t.quad\t1\n"));
  EXPECT_THAT(text, HasSubstr("\t.quad\t.Lsimrt_site2\n\t.quad\t0\n"));  // a cold part is no entry
}

// The definition that hooks/inline_gcc.h makes must not meet those of other objects, nor the runtime's.
TEST(Assembly, TheDeclarationsOwnCodeStaysInTheObject) {
  const std::string cxx = inlined(
      "\t.section\t.text.__sanitizer_cov_trace_pc,\"axG\",@progbits,__sanitizer_cov_trace_pc,comdat\n"
      "\t.weak\t__sanitizer_cov_trace_pc\n\t.type\t__sanitizer_cov_trace_pc, @function\n"
      "__sanitizer_cov_trace_pc:\n\tret\n\t.size\t__sanitizer_cov_trace_pc, .-__sanitizer_cov_trace_pc\n");
  EXPECT_THAT(cxx, Not(HasSubstr("__sanitizer_cov_trace_pc")));
  EXPECT_THAT(cxx, HasSubstr("\t.weak\tsimrt_inline_hook\n\t.hidden\tsimrt_inline_hook\n"));
  const std::string c = inlined(
      "\t.globl\t__sanitizer_cov_trace_pc\n__sanitizer_cov_trace_pc:\n\tret\n"
      "\t.string\t\"__sanitizer_cov_trace_pc\"\n");
  EXPECT_EQ(c, "simrt_inline_hook:\n\tret\n\t.string\t\"__sanitizer_cov_trace_pc\"\n");
}

TEST(Assembly, WithoutBlocksThereIsNoTable) {
  EXPECT_EQ(inlined("\t.text\n\t.ident\t\"GCC\"\n"), "\t.text\n\t.ident\t\"GCC\"\n");
  EXPECT_EQ(inlined(""), "");
}

TEST(Assembly, InlineAssemblyIsCopied) {
  const std::string text =
      "#APP\n# 1 \"a.c\" 1\n\t.pushsection x,\"a\"\n\tcall f\n\t.popsection\n# 0 \"\" 2\n#NO_APP\n";
  EXPECT_EQ(inlined(text), text);
}

TEST(Assembly, WhatIsNotUnderstoodIsLeftToTheCall) {
  for (const char* text :
       {"\tjmp\t__sanitizer_cov_trace_pc\n", "\tcall\t*__sanitizer_cov_trace_pc@GOTPCREL(%rip)\n",
        "\tmovabsq\t$__sanitizer_cov_trace_pc, %rax\n", "\tcall\t__sanitizer_cov_trace_pc_indir\n",
        "\t.intel_syntax noprefix\n", "#APP\n\tcall __sanitizer_cov_trace_pc\n#NO_APP\n",
        "#APP\n\tnop; .section .init\n#NO_APP\n", "\t.previous\n", "#APP\n\t.text\n#NO_APP\n"}) {
    EXPECT_FALSE(inline_hook_calls(text)) << text;
  }
}

}  // namespace
}  // namespace simrt::wrappers
