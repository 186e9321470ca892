// SPDX-License-Identifier: Apache-2.0
// The program is only a launcher, because the OpenMP runtime reads its settings when it is loaded, before any main()
// that is linked to it. By default threads spin at the end of every parallel loop, which on a shared machine costs
// several times the work. So the launcher sets the variable first and then loads the library.

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

int main(int argc, char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) {
        setenv("GOMP_SPINCOUNT", "1000", /*overwrite=*/0);
    }
    using Run = int (*)(int, const char* const*);
    void* library = dlopen("libWireCellSpng.so", RTLD_NOW | RTLD_GLOBAL);
    const auto run = library == nullptr ? nullptr : reinterpret_cast<Run>(dlsym(library, "spng_run_program"));
    if (run == nullptr) {
        std::fprintf(stderr,
                     "error: the library of wire-cell does not load\n  seen:     %s\n  expected: "
                     "libWireCellSpng.so in ../lib beside "
                     "the program, and the LibTorch it was built with\n  hint:     build again (./wcb), or "
                     "install again\n",
                     dlerror());
        return 2;
    }
    return run(argc, argv);
}
