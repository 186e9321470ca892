// SPDX-License-Identifier: Apache-2.0
/* Override the loader's choice among the versions of SPNG's kernels (spng/core/multiversion.h), to compare
 * the results and the times of all versions on one machine:
 *
 *     cc -O2 -shared -fPIC -o force_clones.so bench/cpp/force_clones.c
 *     LD_PRELOAD="$PWD/force_clones.so build/lib/libWireCellSpng.so" SPNG_FORCE_CLONES=default \
 *         build/bin/wire-cell ...
 *
 * The value is how the compiler ends the names of a version: default, arch_x86_64_v3 (AVX2), arch_x86_64_v4
 * (AVX-512). The loader has put the address of its choice into the library's table of functions; this looks
 * the names up in the library's file and writes the other version's address there. It reports the
 * result on standard error. If it cannot replace a version, the program ends with status 3, so that a result
 * of the loader's own choice is not taken for the forced one. */

#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char library[] = "libWireCellSpng.so";

static void give_up(const char* why) {
    fprintf(stderr, "force_clones: %s\n", why);
    _exit(3);
}

/* Symbols of a library file. */
struct symbols {
    const Elf64_Sym* first;
    size_t count;
    const char* names;
};

static struct symbols symbols_of(const char* path) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        give_up("the library's file cannot be read");
    }
    const char* bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        give_up("the library's file cannot be mapped");
    }
    const Elf64_Ehdr* header = (const Elf64_Ehdr*)bytes;
    const Elf64_Shdr* sections = (const Elf64_Shdr*)(bytes + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
        if (sections[i].sh_type == SHT_SYMTAB) {
            const struct symbols found = {(const Elf64_Sym*)(bytes + sections[i].sh_offset),
                                          sections[i].sh_size / sizeof(Elf64_Sym),
                                          bytes + sections[sections[i].sh_link].sh_offset};
            return found;
        }
    }
    give_up("the library was stripped of its local names");
    return (struct symbols){NULL, 0, NULL};
}

/* Return the length of the name without the version suffix, or 0 if it is not a version of a kernel. */
static size_t stem_of(const char* name) {
    static const char* const endings[] = {".default", ".arch_x86_64_v3", ".arch_x86_64_v4"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        const size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return 0;
}

/* Return the address of the wanted version of the kernel with a version at `address`, or 0 if none. */
static Elf64_Addr wanted_version(const struct symbols* symbols, Elf64_Addr address, const char* wanted) {
    for (size_t i = 0; i < symbols->count; ++i) {
        const char* name = symbols->names + symbols->first[i].st_name;
        const size_t stem = stem_of(name);
        if (symbols->first[i].st_value != address || stem == 0) {
            continue;
        }
        for (size_t k = 0; k < symbols->count; ++k) {
            const char* other = symbols->names + symbols->first[k].st_name;
            if (strncmp(other, name, stem) == 0 && other[stem] == '.' &&
                strcmp(other + stem + 1, wanted) == 0) {
                return symbols->first[k].st_value;
            }
        }
    }
    return 0;
}

/* Replace every function pointer that the loader resolved by asking which version fits. Return the count. */
static int replace(const struct dl_phdr_info* info, const struct symbols* symbols, const char* wanted) {
    const Elf64_Dyn* dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            dynamic = (const Elf64_Dyn*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    const Elf64_Rela* tables[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; ++dynamic) {
        switch (dynamic->d_tag) {
        case DT_RELA:
            tables[0] = (const Elf64_Rela*)dynamic->d_un.d_ptr;
            break;
        case DT_RELASZ:
            sizes[0] = dynamic->d_un.d_val;
            break;
        case DT_JMPREL:
            tables[1] = (const Elf64_Rela*)dynamic->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            sizes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int count = 0;
    for (int t = 0; t < 2; ++t) {
        for (size_t i = 0; i < sizes[t] / sizeof(Elf64_Rela); ++i) {
            if (ELF64_R_TYPE(tables[t][i].r_info) != R_X86_64_IRELATIVE) {
                continue;
            }
            Elf64_Addr* slot = (Elf64_Addr*)(info->dlpi_addr + tables[t][i].r_offset);
            const Elf64_Addr version = wanted_version(symbols, *slot - info->dlpi_addr, wanted);
            if (version == 0) {
                continue;
            }
            void* start = (void*)((size_t)slot / page * page);
            if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) {
                give_up("the table of functions cannot be written");
            }
            *slot = info->dlpi_addr + version;
            ++count;
        }
    }
    return count;
}

static int on_library(struct dl_phdr_info* info, size_t size, void* wanted) {
    (void)size;
    const char* name = strrchr(info->dlpi_name, '/');
    if (name == NULL || strcmp(name + 1, library) != 0) {
        return 0;
    }
    const struct symbols symbols = symbols_of(info->dlpi_name);
    const int count = replace(info, &symbols, wanted);
    if (count == 0) {
        give_up("no kernel has such a version");
    }
    fprintf(stderr, "force_clones: %d kernels as %s\n", count, (const char*)wanted);
    return 1;
}

/* Constructors run after all relocations of the libraries that are loaded at the start. */
__attribute__((constructor)) static void force(void) {
    char* wanted = getenv("SPNG_FORCE_CLONES");
    if (wanted == NULL || dl_iterate_phdr(&on_library, wanted) == 0) {
        give_up("SPNG_FORCE_CLONES is not set, or libWireCellSpng.so is not loaded at the start");
    }
}
