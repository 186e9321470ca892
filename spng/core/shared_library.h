// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared libraries opened at run time, for everything that a machine may lack: the NVIDIA driver, CUDA, the
// recorder, plugins. Header-only, since the recorder, a separate library, includes it too.

#include <initializer_list>
#include <string>

#include <dlfcn.h>

namespace spng {

/// A shared library that stays loaded until the process ends. Functions taken from it therefore stay valid.
class SharedLibrary {
public:
    /// Whether later libraries can use the symbols. own: no, and the library and its dependencies use their own symbols
    /// also where a library of the program has one of that name.
    enum class Symbols { local = RTLD_LOCAL, global = RTLD_GLOBAL, own = RTLD_LOCAL | RTLD_DEEPBIND };

    SharedLibrary() = default;

    /// Load a library, as dlopen() does. Never throws: check is_open().
    explicit SharedLibrary(const std::string& file, Symbols symbols = Symbols::local)
        : m_handle(dlopen(file.c_str(), RTLD_NOW | static_cast<int>(symbols))) {
        if (m_handle == nullptr) {
            const char* const reason = dlerror();
            m_problem = reason == nullptr ? file : reason;
        }
    }

    /// Return the first of these libraries that the process has loaded already; a closed one if none is.
    static SharedLibrary find_loaded(std::initializer_list<const char*> files) {
        SharedLibrary library;
        for (const char* const file : files) {
            if (library.m_handle == nullptr) {
                library.m_handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
            }
        }
        return library;
    }

    /// Return the path of the library or program that contains `code`; "" if the loader cannot tell.
    template <class Function>
    static std::string file_of(Function* code) {
        Dl_info info{};
        const bool is_found = dladdr(reinterpret_cast<const void*>(code), &info) != 0;
        return is_found && info.dli_fname != nullptr ? info.dli_fname : "";
    }

    bool is_open() const { return m_handle != nullptr; }

    /// The loader's reason if the library did not load.
    const std::string& problem() const { return m_problem; }

    /// Return a function by its name; null if the library has none. The library must be open.
    template <class Function>
    Function find(const char* name) const {
        return reinterpret_cast<Function>(dlsym(m_handle, name));
    }

private:
    void* m_handle = nullptr;
    std::string m_problem;
};

/// Fills a table of functions from an open library and remembers the first one that the library lacks.
class FunctionFinder {
public:
    explicit FunctionFinder(const SharedLibrary& library) : m_library(library) {}

    /// Set `function` to the function of this name, or to null.
    template <class Function>
    void find_optional(Function& function, const char* name) {
        function = m_library.find<Function>(name);
    }

    /// The same for a function that the caller cannot do without.
    template <class Function>
    void find(Function& function, const char* name) {
        find_optional(function, name);
        if (function == nullptr && m_missing.empty()) {
            m_missing = name;
        }
    }

    /// The name of the first missing function; "" if the library has all.
    const std::string& missing() const { return m_missing; }

private:
    const SharedLibrary& m_library;
    std::string m_missing;
};

} // namespace spng
