// SPDX-License-Identifier: Apache-2.0
// Units and helpers of cfg/lib/wirecell.jsonnet.

#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

namespace {

using spng::test::evaluate;

double number(const std::string& expression) {
    return evaluate(expression).get<double>();
}

TEST(WirecellUnits, BaseUnitsAreOne) {
    EXPECT_EQ(evaluate("[wc.mm, wc.ns, wc.MeV, wc.eplus, wc.megavolt, wc.kelvin, wc.radian]"),
              nlohmann::json({1, 1, 1, 1, 1, 1, 1}));
}

TEST(WirecellUnits, ValuesInBaseUnits) {
    // Elementary charge 1.602176634e-19 C, exact by the SI of 2019: 1 fC = 6241.5090744607631 e.
    const std::vector<std::pair<const char*, double>> expected{{"wc.m", 1e3},
                                                               {"wc.cm", 10.0},
                                                               {"wc.um", 1e-3},
                                                               {"wc.cm2", 100.0},
                                                               {"wc.m3", 1e9},
                                                               {"wc.us", 1e3},
                                                               {"wc.ms", 1e6},
                                                               {"wc.s", 1e9},
                                                               {"wc.hertz", 1e-9},
                                                               {"wc.megahertz", 1e-3},
                                                               {"wc.eV", 1e-6},
                                                               {"wc.GeV", 1e3},
                                                               {"wc.volt", 1e-6},
                                                               {"wc.mV", 1e-9},
                                                               {"wc.fC", 6241.5090744607631},
                                                               {"wc.degree", 0.017453292519943295},
                                                               {"wc.clight", 299.792458}};
    std::string list;
    for (const auto& [expression, value] : expected) {
        list += std::string(expression) + ", ";
    }
    const nlohmann::json values = evaluate("[" + list + "]");
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(values.at(i).get<double>() / expected[i].second, 1.0, 1e-14) << expected[i].first;
    }
}

TEST(WirecellUnits, DerivedUnitsAgree) {
    EXPECT_NEAR(number("wc.volt * wc.coulomb / wc.joule"), 1.0, 1e-14);
    EXPECT_NEAR(number("wc.kg * wc.m2 / wc.s / wc.s / wc.joule"), 1.0, 1e-14);
    EXPECT_NEAR(number("wc.ampere * wc.s / wc.coulomb"), 1.0, 1e-14);
    // An amplifier of 14 mV/fC gives 14e-9 / 6241.509 megavolt for one electron.
    EXPECT_NEAR(number("14 * wc.mV / wc.fC") / 2.2430472876e-12, 1.0, 1e-10);
    EXPECT_NEAR(number("1.60563 * wc.mm / wc.us"), 1.60563e-3, 1e-18);
}

TEST(WirecellHelpers, Names) {
    EXPECT_EQ(evaluate("wc.tn({type: 'A', name: 'b'})"), "A:b");
    EXPECT_EQ(evaluate("wc.tn({type: 'A', name: ''})"), "A");
    EXPECT_EQ(evaluate("wc.tn({type: 'A'})"), "A");
}

TEST(WirecellHelpers, Lists) {
    EXPECT_EQ(evaluate("wc.iota(3)"), nlohmann::json({0, 1, 2}));
    EXPECT_EQ(evaluate("wc.iota(0)"), nlohmann::json::array());
    EXPECT_EQ(evaluate("wc.unique_list([3, 1, 3, '3', { a: 1 }, { a: 1 }, 1])"),
              nlohmann::json::parse(R"([3, 1, "3", {"a": 1}])"));
    EXPECT_EQ(evaluate("wc.unique_list([])"), nlohmann::json::array());
}

TEST(WirecellHelpers, WirePlaneIdsPackLayerFaceAnode) {
    EXPECT_EQ(evaluate("[wc.WirePlaneId(layer) for layer in wc.layers]"), nlohmann::json({1, 2, 4}));
    EXPECT_EQ(evaluate("wc.WirePlaneId(wc.Ulayer, 1)"), 9);
    EXPECT_EQ(evaluate("wc.WirePlaneId(wc.Wlayer, face=1, anode=3)"), 60);
}

} // namespace
