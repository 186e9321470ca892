// SPDX-License-Identifier: Apache-2.0
// Units and helpers of cfg/lib/wirecell.jsonnet.

#include "spng/core/error.h"
#include "tests/cfg/jsonnet_snippet.h"
#include "tests/cfg/wct_name_list.h"

#include <gtest/gtest.h>

namespace {

using spng::test::check_cases;
using spng::test::evaluate;
using spng::test::fields_of_wct;
using spng::test::LibraryCase;
using spng::test::wct_name_list;

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
    EXPECT_EQ(evaluate("wc.WirePlaneId(wc.Wlayer, face=1, apa=3)"), 60);
}

TEST(WirecellUnits, EachUnitOfTheToolkitHasItsValue) {
    const nlohmann::json values =
        evaluate("{ [name]: wc[name] for name in std.objectFields(wc) if std.isNumber(wc[name]) }");
    for (const auto& [name, expected] : wct_name_list().at("units").items()) {
        ASSERT_TRUE(values.contains(name)) << name;
        EXPECT_NEAR(values.at(name).get<double>() / expected.get<double>(), 1.0, 1e-14) << name;
    }
}

const std::vector<LibraryCase> cases{
    {"Ulayer", "wc.Ulayer", "1"},
    {"Vlayer", "wc.Vlayer", "2"},
    {"Wlayer", "wc.Wlayer", "4"},
    {"point", "wc.point(x=1, y=2, z=3, u=wc.cm)", R"({"x": 10, "y": 20, "z": 30})"},
    {"ray", "wc.ray(p1='a', p2='b')", R"({"tail": "a", "head": "b"})"},
    {"Point", "wc.Point", R"({"x": 0, "y": 0, "z": 0})"},
    {"Ray", "wc.Ray", R"({"tail": {"x": 0, "y": 0, "z": 0}, "head": {"x": 0, "y": 0, "z": 0}})"},
    {"Track", "wc.Track { ray: wc.ray(1, 2) }",
     R"({"time": 0, "charge": -1, "ray": {"tail": 1, "head": 2}})"},
    {"WirePlaneId", "[wc.WirePlaneId(layer=4, face=1, apa=3), wc.WirePlaneId(9)]", "[60, 1]"},
    {"wpid_index_to_layer", "[wc.wpid_index_to_layer(layer=i) for i in [0, 1, 2]]", "[1, 2, 4]"},
    {"wpid_layer_to_indices", "[wc.wpid_layer_to_indices(layer=i) for i in [0, 1, 5, 7, 8]]",
     "[[], [0], [0, 2], [0, 1, 2], []]"},
    {"wpid_layer_to_index", "[wc.wpid_layer_to_index(layer=i) for i in [1, 2, 4]]", "[0, 1, 2]"},
    {"unpack_wpid", "wc.unpack_wpid(wpid=wc.WirePlaneId(wc.Vlayer, 1, 12))",
     R"({"apa": 12, "face": 1, "layer": 2, "index": 1, "letter": "v", "name": "a12f1v"})"},
    {"Component", "wc.Component { type: 'A' }", R"({"type": "A", "name": "", "data": {}})"},
    {"TrackDepos", "wc.TrackDepos { name: 'a' }", R"({"type": "TrackDepos", "name": "a", "data": {}})"},
    {"iota", "wc.iota(end=3)", "[0, 1, 2]"},
    {"enumerate", "wc.enumerate(sequence=['a', 'b'])",
     R"([{"index": 0, "value": "a"}, {"index": 1, "value": "b"}])"},
    {"enumerate_pair", "wc.enumerate_pair(sequence=['a', 'b'])", R"([[0, "a"], [1, "b"]])"},
    {"index_of", "wc.index_of(arr=[3, 1, 2, 1], val=1)", "1"},
    {"tn", "wc.tn(obj={ type: 'A', name: 'b' })", R"("A:b")"},
    {"tns", "wc.tns(objs=[{ type: 'A' }, { type: 'A', name: 'b' }])", R"(["A", "A:b"])"},
    {"unique_list", "wc.unique_list(seq=[2, [1], 2, [1], 'x'])", R"([2, [1], "x"])"},
    {"listify", "[wc.listify(l=l) for l in ['a,b', '', [1], { b: 2, a: 1 }]] + [wc.listify('a:b', d=':')]",
     R"([["a", "b"], [""], [1], [1, 2], ["a", "b"]])"},
    {"intify", "[wc.intify(number=x) for x in ['12', '-3', 2, 2.1, -2.1]]", "[12, -3, 2, 3, -2]"},
    {"numberify", "[wc.numberify(number=x) for x in ['-3.5', '1e3', 2]]", "[-3.5, 1000, 2]"},
    {"intlistify", "[wc.intlistify(stuff=x) for x in ['1,,2', '', 4, [1, '2', 2.5]]]",
     "[[1, 2], [], [4], [1, 2, 3]]"},
    {"object_with", "wc.object_with(obj={ a: 1, b: 2 }, keys=['a', 'c'])", R"({"a": 1})"},
    {"flatten", "wc.flatten(lol=[[1, 2], [], [[3]]])", "[1, 2, [3]]"},
    {"deep_flatten", "wc.deep_flatten(lolol=[[1, [2, [3, []]]], 4])", "[1, 2, 3, 4]"},
    {"roundToInt", "[wc.roundToInt(x=x) for x in [0.4, 0.5, 1.49, -0.6, -2.7]]", "[0, 1, 1, -1, -3]"},
    {"sum", "[wc.sum(arr=[1, 2, 3.5]), wc.sum([])]", "[6.5, 0]"},
    {"basename",
     "[wc.basename(name='a/b.npz', ext='.npz'), wc.basename('a:b', delim=':'), wc.basename('c', '.x')]",
     R"(["b", "b", "c"])"},
    {"get",
     "[wc.get(o={ a:: 1 }, f='a'), wc.get({ a:: 1 }, 'a', inc_hidden=false), wc.get({}, 'a', default=7)]",
     "[1, null, 7]"},
    {"debug", "wc.debug(obj={ a: 1 }, msg='tested: ')", R"({"a": 1})"},
    {"freqmasks_phys", "wc.freqmasks_phys(meanfreqs=[1, 2], delta=0.25)",
     R"([{"value": 0, "flo": 0.75, "fhi": 1.25}, {"value": 0, "flo": 1.75, "fhi": 2.25}])"},
    {"freqbinner", "std.objectFields(wc.freqbinner(tick=500, nsamples=6000))",
     R"(["hz_perbin", "nyquist", "testmasks"])"},
};

// A readout of 4000 ticks of 500 ns lasts 2 ms: bins of 500 Hz up to 1 MHz.
const std::string binner = "local bins = wc.freqbinner(500, 4000); ";
const std::vector<LibraryCase> binner_cases{
    {"nyquist", "bins.nyquist", "0.001"},
    {"hz_perbin", "bins.hz_perbin", "500"},
    {"bin", "[bins.bin(frequency=f * wc.kilohertz) for f in [0, 1.2, 100.1]]", "[0, 2, 200]"},
    {"bin_range",
     "[bins.bin_range(meanfreq=f * wc.kilohertz, deltafreq=2.1 * wc.kilohertz) for f in [1, 50, 999]]",
     "[[0, 6], [95, 104], [1993, 2000]]"},
    {"freqmasks", "bins.freqmasks(meanfreqs=[50 * wc.kilohertz], delta=2.1 * wc.kilohertz)",
     R"([{"value": 1, "lobin": 0, "hibin": 3999}, {"value": 0, "lobin": 95, "hibin": 104}])"},
    {"freqmasks_mirror", "bins.freqmasks_mirror([50 * wc.kilohertz], 2.1 * wc.kilohertz)",
     R"([{"value": 1, "lobin": 0, "hibin": 3999}, {"value": 0, "lobin": 95, "hibin": 104},
         {"value": 0, "lobin": 3896, "hibin": 3905}])"},
    {"testfreqs", "[std.length(bins.testfreqs), wc.roundToInt(bins.testfreqs[11] / wc.hertz)]",
     "[12, 615800]"},
    {"testmasks", "[std.length(bins.testmasks), bins.testmasks[1]]",
     R"([13, {"value": 0, "lobin": 99, "hibin": 107}])"},
};

TEST(WirecellHelpers, EachNameOfTheToolkitHasItsMeaning) {
    auto names = check_cases(cases, "");
    for (const auto& [name, unit] : wct_name_list().at("units").items()) {
        names.insert(name);
    }
    EXPECT_EQ(names, fields_of_wct("wirecell.jsonnet"));
    EXPECT_EQ(check_cases(binner_cases, binner), fields_of_wct("wirecell.jsonnet freqbinner"));
}

TEST(WirecellHelpers, LayersOfSeveralPlanesHaveNoIndex) {
    EXPECT_THROW(evaluate("wc.wpid_layer_to_index(3)"), spng::Error);
    EXPECT_THROW(evaluate("wc.unpack_wpid(7)"), spng::Error);
}

} // namespace
