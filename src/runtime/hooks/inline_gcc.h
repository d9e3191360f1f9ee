/* gcc's coverage hook as its register allocator is to see it: the wrapper includes this behind everything
   else that is included on the command line, and replaces each call by the store itself in the assembly
   (src/wrappers/assembly.h). The body below is what makes that cheap: gcc compiles it first, learns that only
   r10 and r11 change (-fipa-ra), and keeps all other registers alive across the calls. An inline function's
   body counts as its meaning even in position-independent code. Not always_inline: the calls are made behind
   the inliner. */
#pragma GCC system_header
#ifdef __cplusplus
extern "C" inline __attribute__((noinline, noclone, used, no_reorder, no_sanitize_coverage)) void
__builtin___sanitizer_cov_trace_pc() {
  __asm__ volatile("" : : : "r10", "r11");
}
#else
__inline__ __attribute__((gnu_inline, noinline, noclone, used, no_reorder, no_sanitize_coverage)) void
__builtin___sanitizer_cov_trace_pc(void) {
  __asm__ volatile("" : : : "r10", "r11");
}
#endif
