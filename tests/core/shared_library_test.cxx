// SPDX-License-Identifier: Apache-2.0
#include "spng/core/shared_library.h"

#include <gtest/gtest.h>

using spng::FunctionFinder;
using spng::SharedLibrary;

TEST(SharedLibrary, FindsFunctionsByName) {
    const SharedLibrary library("libm.so.6");
    ASSERT_TRUE(library.is_open()) << library.problem();
    const auto cosine = library.find<double (*)(double)>("cos");
    ASSERT_NE(cosine, nullptr);
    EXPECT_EQ(cosine(0.0), 1.0);
    EXPECT_EQ(library.find<void (*)()>("no_such_function"), nullptr);
}

TEST(SharedLibrary, GivesTheReasonForAMissingFile) {
    const SharedLibrary library("libno-such-library.so");
    EXPECT_FALSE(library.is_open());
    EXPECT_NE(library.problem().find("libno-such-library.so"), std::string::npos);
}

TEST(SharedLibrary, FindsTheFirstLoadedLibrary) {
    EXPECT_TRUE(SharedLibrary::find_loaded({"libno-such-library.so", "libc.so.6"}).is_open());
    EXPECT_FALSE(SharedLibrary::find_loaded({"libno-such-library.so"}).is_open());
}

TEST(FunctionFinder, RemembersTheFirstMissingFunction) {
    const SharedLibrary library("libm.so.6");
    ASSERT_TRUE(library.is_open());
    FunctionFinder finder(library);
    double (*sine)(double) = nullptr;
    void (*absent)() = nullptr;
    finder.find_optional(absent, "not_needed");
    finder.find(sine, "sin");
    EXPECT_EQ(finder.missing(), "");
    finder.find(absent, "first_missing");
    finder.find(absent, "second_missing");
    EXPECT_NE(sine, nullptr);
    EXPECT_EQ(finder.missing(), "first_missing");
}
