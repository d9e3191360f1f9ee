// A shared object of "the project"; VALUE changes its contents.
int library_value() { return VALUE; }
