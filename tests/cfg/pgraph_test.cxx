// SPDX-License-Identifier: Apache-2.0
// Graphs made with cfg/lib/pgraph.jsonnet, compared with the expected values.

#include "spng/core/error.h"
#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using nlohmann::json;
using spng::test::evaluate;

const std::string parts = R"(
local service = { type: 'Service', name: 's', data: { value: 1 } };
local source = pg.pnode({ type: 'Source', name: 'in', data: { file: 'a' } }, nin=0, nout=1);
local filter = pg.pnode({ type: 'Filter', name: '', data: { service: wc.tn(service) } }, nin=1, nout=1, uses=[service]);
local sink = pg.pnode({ type: 'Sink', name: 'out', data: {} }, nin=1, nout=0);
local node(name, nin=1, nout=1, uses=[]) = pg.pnode({ type: 'Node', name: name, data: {} }, nin, nout, uses);
)";

/// "tail.port>head.port" of each edge, sorted.
std::set<std::string> edges(const std::string& expression) {
    std::set<std::string> strings;
    const json list = evaluate(parts + "pg.edges(" + expression + ")");
    for (const auto& edge : list) {
        const auto end = [&](const char* which) {
            return edge[which]["node"].get<std::string>() + "." +
                   std::to_string(edge[which]["port"].get<int>());
        };
        EXPECT_TRUE(strings.insert(end("tail") + ">" + end("head")).second) << edge;
    }
    return strings;
}

std::string error_of(const std::string& text) {
    try {
        evaluate(parts + text);
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error.what();
    }
    return "no error";
}

TEST(Pgraph, PipelineOfThreeNodes) {
    const json expected = json::parse(R"([
        {"type": "wire-cell", "data": {"plugins": ["WireCellSpng"], "apps": ["TbbFlow"]}},
        {"type": "Source", "name": "in", "data": {"file": "a"}},
        {"type": "Service", "name": "s", "data": {"value": 1}},
        {"type": "Filter", "name": "", "data": {"service": "Service:s"}},
        {"type": "Sink", "name": "out", "data": {}},
        {"type": "TbbFlow", "data": {"max_threads": 2, "edges": [
            {"tail": {"node": "Source:in", "port": 0}, "head": {"node": "Filter", "port": 0}},
            {"tail": {"node": "Filter", "port": 0}, "head": {"node": "Sink:out", "port": 0}}]}}])");
    EXPECT_EQ(evaluate(parts +
                       "pg.main(pg.pipeline([source, filter, sink]), 'TbbFlow', plugins=['WireCellSpng'], "
                       "app_data={ max_threads: 2 })"),
              expected);
}

TEST(Pgraph, ServicesOfAllLevelsComeOnceBeforeTheirUsers) {
    const json components = evaluate(parts + R"(
        local low = { type: 'Low', name: '', data: {} };
        local high = { type: 'High', name: '', data: {}, uses: [low] };
        pg.components(pg.pipeline([node('a', uses=[high]), node('b', uses=[low, high]), node('c', uses=[node('a')])]),
                      uses=[service]))");
    std::vector<std::string> names;
    for (const auto& component : components) {
        EXPECT_FALSE(component.contains("uses"));
        names.push_back(component["type"].get<std::string>() + component["name"].get<std::string>());
    }
    EXPECT_EQ(names, (std::vector<std::string>{"Services", "Low", "High", "Nodea", "Nodeb", "Nodec"}));
}

TEST(Pgraph, TwoContentsUnderOneNameAreAnError) {
    const std::string text = error_of(R"(
        local filter(scale) = { type: 'Filter', name: 'tpc0', data: { scale: scale, power: 2 } };
        pg.main(pg.pipeline([node('u', uses=[filter(0.42)]), node('w', uses=[filter(5.64)])])))");
    EXPECT_NE(text.find("'Filter:tpc0' and differ in: scale"), std::string::npos) << text;
}

TEST(Pgraph, PipelineOfOneIsThatOne) {
    EXPECT_EQ(edges("pg.pipeline([node('a')])"), std::set<std::string>{});
    EXPECT_NE(error_of("pg.pipeline([], 'empty')").find("empty of no parts"), std::string::npos);
}

TEST(Pgraph, EdgeToAPortThatIsNotThere) {
    EXPECT_NE(error_of("pg.edge(source, sink, 0, 1)").find("Sink:out has no input port 1, only 1"),
              std::string::npos);
    EXPECT_NE(error_of("pg.pipeline([sink, filter])").find("Sink:out has no output port 0"),
              std::string::npos);
}

TEST(Pgraph, CrosslineKeepsPortsInOrder) {
    const json cross = evaluate(parts + "pg.crossline([node('a', 2, 1), node('b', 1, 2)])");
    EXPECT_EQ(cross["iports"], json::parse(R"([{"node":"Node:a","port":0},{"node":"Node:a","port":1},
                                               {"node":"Node:b","port":0}])"));
    EXPECT_EQ(cross["oports"], json::parse(R"([{"node":"Node:a","port":0},{"node":"Node:b","port":0},
                                               {"node":"Node:b","port":1}])"));
    EXPECT_EQ(cross["edges"], json::array());
}

TEST(Pgraph, ShuntlineConnectsPortByPort) {
    EXPECT_EQ(edges("pg.shuntline(pg.crossline([node('a'), node('b')]), node('c', 2, 2))"),
              (std::set<std::string>{"Node:a.0>Node:c.0", "Node:b.0>Node:c.1"}));
    EXPECT_EQ(edges("pg.shuntlines([node('a', 0, 2), node('b', 2, 2), node('c', 2, 0)])"),
              (std::set<std::string>{"Node:a.0>Node:b.0", "Node:a.1>Node:b.1", "Node:b.0>Node:c.0",
                                     "Node:b.1>Node:c.1"}));
    EXPECT_NE(error_of("pg.shuntline(node('a', 1, 3), node('b', 2, 1))").find("3 output ports"),
              std::string::npos);
}

TEST(Pgraph, InternTakesGivenPorts) {
    const json graph = evaluate(parts + R"(
        local a = node('a', 1, 2), b = node('b', 2, 1);
        pg.intern(innodes=[a], outnodes=[b], edges=[pg.edge(a, b, 0, 1)], oports=[a.oports[1], b.oports[0]], name='g'))");
    EXPECT_EQ(graph["name"], "g");
    EXPECT_EQ(graph["iports"], json::parse(R"([{"node":"Node:a","port":0}])"));
    EXPECT_EQ(graph["oports"], json::parse(R"([{"node":"Node:a","port":1},{"node":"Node:b","port":0}])"));
    EXPECT_EQ(graph["edges"].size(), 1U);
}

TEST(Pgraph, FanPipe) {
    EXPECT_EQ(
        edges("pg.fan.pipe('SPNGFanoutTensorSets', [node('a'), node('b')], 'SPNGFaninTensorSets', 'f')"),
        (std::set<std::string>{"SPNGFanoutTensorSets:f.0>Node:a.0", "SPNGFanoutTensorSets:f.1>Node:b.0",
                               "Node:a.0>SPNGFaninTensorSets:f.0", "Node:b.0>SPNGFaninTensorSets:f.1"}));
    const json components =
        evaluate(parts + "pg.components(pg.fan.fanout('Fan', [node('a'), node('b'), node('c')]))");
    EXPECT_EQ(components[0], json::parse(R"({"type":"Fan","name":"fanout","data":{"multiplicity":3}})"));
    EXPECT_EQ(edges("pg.fan.fanin('Fan', [node('a'), node('b')], 'f')"),
              (std::set<std::string>{"Node:a.0>Fan:f.0", "Node:b.0>Fan:f.1"}));
}

TEST(Pgraph, InsertNodeReplacesAnEdge) {
    EXPECT_EQ(
        edges(
            "local g = pg.pipeline([source, sink]); pg.insert_node(g, g.edges[0], node('tap'), node('tap'))"),
        (std::set<std::string>{"Source:in.0>Node:tap.0", "Node:tap.0>Sink:out.0"}));
}

} // namespace
