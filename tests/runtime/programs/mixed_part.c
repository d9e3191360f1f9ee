/* The C half of a program built by two compilers. */
int work_c_half(int n) { return n > 1 ? n : 2; }
