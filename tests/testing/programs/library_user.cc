// Finds its library through its RUNPATH.
int library_value();
int main() { return library_value() == 0 ? 1 : 0; }
