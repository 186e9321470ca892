// SPDX-License-Identifier: Apache-2.0
// Program that uses NVTX without the recorder; the argument selects the use. The tests in this folder compile
// and run it. With -DAS_LIBRARY it is a library with its own NVTX, which the program loads.

#include <nvtx3/nvToolsExt.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

nvtxEventAttributes_t attributes(const char* name) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    return event;
}

void range(const char* name) {
    nvtxRangePushA(name);
    nvtxRangePop();
}

} // namespace

extern "C" void from_library() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("shared");
    const auto event = attributes("from the library");
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
}

#ifndef AS_LIBRARY

namespace {

std::vector<std::string> arguments;

template <class Set>
void with_payload(const char* name, nvtxPayloadType_t type, Set set) {
    auto event = attributes(name);
    event.payloadType = type;
    set(event.payload);
    nvtxMarkEx(&event);
}

/// Use strings that are not UTF-8 as names of everything: Latin-1, cut characters, surrogates, code points beyond Unicode.
void texts_of_any_encoding() {
    prctl(PR_SET_NAME, "thr\xe9"
                       "ad");
    range("d\xe9j");
    range("d\xe8j");
    range("cut \xf0\x9f\x9a");
    range("\xed\xa0\x80 \xc0\xaf \x1b[31m \xc3\xa9");
    const std::array<wchar_t, 6> wide{L'w',        wchar_t{0xD800}, wchar_t{0x110000},
                                      wchar_t{-1}, wchar_t{0x6CE2}, 0};
    nvtxRangePushW(wide.data());
    nvtxRangePop();
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "main \xff");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("domain \xe9");
    nvtxDomainNameCategoryA(domain, 7, "category \xe9");
    auto event = attributes(nullptr);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "registered \xe9");
    nvtxDomainMarkEx(domain, &event);
}

/// Call each NVTX function.
void everything() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
    nvtxDomainHandle_t wide = nvtxDomainCreateW(L"br\u00e9it");
    nvtxDomainNameCategoryA(domain, 3, "third");
    nvtxNameCategoryW(4, L"fourth");
    nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");
    auto event = attributes(nullptr);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = registered;
    event.category = 3;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xFF102030;

    std::printf("%d", nvtxRangePushA("outer"));
    std::printf(" %d", nvtxDomainRangePushEx(domain, &event)); // other domain: its own depth
    std::printf(" %d", nvtxRangePushW(L"\u00e4\u20ac\U0001F600"));
    std::printf(" %d", nvtxDomainRangePop(domain)); // not the innermost of the thread, but of its domain
    std::printf(" %d", nvtxRangePop());
    std::printf(" %d\n", nvtxRangePop());

    const auto unicode = [&] {
        auto marked = attributes(nullptr);
        marked.messageType = NVTX_MESSAGE_TYPE_UNICODE;
        marked.message.unicode = L"wide mark";
        nvtxDomainMarkEx(wide, &marked);
    };
    unicode();
    nvtxMarkA("mark");
    with_payload("u64", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = ~0ULL; });
    with_payload("i64", NVTX_PAYLOAD_TYPE_INT64, [](auto& p) { p.llValue = -5; });
    with_payload("f64", NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& p) { p.dValue = 0.1; });
    with_payload("u32", NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [](auto& p) { p.uiValue = 4000000000U; });
    with_payload("i32", NVTX_PAYLOAD_TYPE_INT32, [](auto& p) { p.iValue = -6; });
    with_payload("f32", NVTX_PAYLOAD_TYPE_FLOAT, [](auto& p) { p.fValue = 0.5F; });

    const nvtxRangeId_t here = nvtxRangeStartA("same thread");
    nvtxRangeEnd(here);
    nvtxRangeEnd(here); // a second end means nothing
    const nvtxRangeId_t there = nvtxDomainRangeStartEx(domain, &event);
    std::thread([&] {
        nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "the worker");
        nvtxDomainRangeEnd(domain, there);
    }).join();
    range("aten::add, seq = 17, op_id = 3");
    range("aten::add, seq = 18, op_id = 4, sizes = [[2, 3], []], input_op_ids = [(1,0)]");
    nvtxDomainDestroy(domain);
}

void fork_and_go_on() {
    nvtxRangePushA("parent");
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; ++i) {
            range("child");
        }
        std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    range("after");
    nvtxRangePop();
}

/// End the process in the given way. The ranges before the end must not be lost.
void end_by(const std::string& way) {
    range("said");
    nvtxRangePushA("open");
    usleep(400'000); // several times the period in which rows go to the disk, which the tests set to 0.1 s
    const std::map<std::string, std::function<void()>> ways{
        {"return", [] {}},
        {"exit", [] { std::exit(0); }},
        {"quick_exit", [] { std::quick_exit(0); }},
        {"_exit", [] { _exit(0); }},
        {"abort", [] { std::abort(); }},
        {"segv", [] { raise(SIGSEGV); }},
        {"term", [] { raise(SIGTERM); }},
        {"int", [] { raise(SIGINT); }},
        {"hup", [] { raise(SIGHUP); }},
        {"quit", [] { raise(SIGQUIT); }},
        {"usr1", [] { raise(SIGUSR1); }},
        {"xcpu", [] { raise(SIGXCPU); }},
        {"kill", [] { raise(SIGKILL); }},
        {"exit in a thread", [] { std::thread([] { std::exit(0); }).join(); }},
        {"abort in a thread", [] { std::thread([] { std::abort(); }).join(); }},
    };
    ways.at(way)();
}

const std::map<std::string, std::function<void()>> modes{
    {"everything", everything},
    {"ranges",
     [] { // how many
         const auto event = attributes("range");
         nvtxDomainHandle_t domain = nvtxDomainCreateA("many");
         for (long i = 0; i < std::atol(arguments.at(0).c_str()); ++i) {
             nvtxDomainRangePushEx(domain, &event);
             nvtxDomainRangePop(domain);
         }
     }},
    {"threads",
     [] { // how many, one after the other and in groups of 8
         for (int i = 0; i < std::atoi(arguments.at(0).c_str()); i += 8) {
             std::vector<std::thread> group;
             for (int j = 0; j < 8; ++j) {
                 group.emplace_back([] { range("short-lived"); });
             }
             for (auto& thread : group) {
                 thread.join();
             }
         }
     }},
    {"unbalanced",
     [] {
         std::printf("%d %d\n", nvtxRangePop() < 0, nvtxRangePop() < 0);
         range("fine");
         for (int i = 0; i < 20000; ++i) {
             nvtxRangePushA("never popped");
         }
     }},
    {"names",
     [] { // how many distinct ones
         for (long i = 0; i < std::atol(arguments.at(0).c_str()); ++i) {
             range(("name " + std::to_string(i)).c_str());
         }
     }},
    {"encodings", texts_of_any_encoding},
    {"fork", fork_and_go_on},
    {"command",
     [] { // of the shell, as a child with the same environment
         range("parent");
         std::printf("%d\n", std::system(arguments.at(0).c_str()));
     }},
    {"early",
     [] { // the tool is named after the first use of NVTX
         const std::string tool = std::getenv("LATE_TOOL");
         nvtxMarkA("early");
         setenv("NVTX_INJECTION64_PATH", tool.c_str(), 1);
         range("late");
     }},
    {"library",
     [] { // its path
         from_library();
         void* const library = dlopen(arguments.at(0).c_str(), RTLD_NOW | RTLD_LOCAL);
         reinterpret_cast<void (*)()>(dlsym(library, "from_library"))();
     }},
    {"end", [] { end_by(arguments.at(0)); }},
};

} // namespace

int main(int count, char** words) {
    arguments.assign(words + 2, words + count);
    modes.at(words[1])();
}

#endif
