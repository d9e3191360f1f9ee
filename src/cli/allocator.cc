// How jemalloc, which the program is linked with, sets itself up: a selection allocates tens of megabytes in
// a third of a second, and a tenth of its time would go into page faults. Huge pages are asked for where the
// system leaves the choice to programs (transparent_hugepage: madvise, Debian's default).
extern "C" {
extern const char* malloc_conf;  // jemalloc's name for it
const char* malloc_conf = "thp:always,metadata_thp:auto";
}
