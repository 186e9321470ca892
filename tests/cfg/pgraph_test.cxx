// SPDX-License-Identifier: Apache-2.0
// Graphs made with cfg/lib/pgraph.jsonnet, compared with the expected values.

#include "spng/core/error.h"
#include "tests/cfg/jsonnet_snippet.h"
#include "tests/cfg/wct_name_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using nlohmann::json;
using spng::test::check_cases;
using spng::test::evaluate;
using spng::test::fields_of_wct;
using spng::test::LibraryCase;

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
        pg.main(pg.pipeline([node('a', uses=[high]), node('b', uses=[low, high]), node('c', uses=[node('a')])]),
                program='', uses=[service])[:6])");
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
    EXPECT_NE(text.find("docs/migration.md"), std::string::npos) << text;
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
        evaluate(parts + "pg.uses(pg.fan.fanout('Fan', [node('a'), node('b'), node('c')]))");
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

/// An edge "Tail.port>Head.port", and the nodes of the cases below.
const std::string case_parts = R"(
local a = node('a'), b = node('b', 1, 2), d = node('d', 2, 1), src = node('in', 0, 1), snk = node('out', 1, 0);
local text(edge) = '%s.%d>%s.%d' % [edge.tail.node, edge.tail.port, edge.head.node, edge.head.port];
local short(edges) = [std.strReplace(text(edge), 'Node:', '') for edge in edges];
local ports(part) = [[port.node[5:] + port.port for port in list] for list in [part.iports, part.oports]];
local line = pg.pipeline([src, a, snk], 'line');
local tree = { type: 'A', uses: [{ type: 'B', uses: [{ type: 'C' }] }, { type: 'C' }] };
local types(components) = [component.type for component in components];
)";

const std::vector<LibraryCase> cases{
    {"port", "[pg.port({ type: 'A', name: 'b' }, num=2), pg.port({ type: 'A' })]",
     R"([{"node": "A:b", "port": 2}, {"node": "A", "port": 0}])"},
    {"edge", "short([pg.edge(a, d), pg.edge(b, d, tp=1, hp=1)])", R"(["a.0>d.0", "b.1>d.1"])"},
    {"edge_ports", "short([pg.edge_ports(tport=b.oports[1], hport=a.iports[0])])", R"(["b.1>a.0"])"},
    {"edge_labels", "pg.edge_labels(tlabel='A:a', hlabel='B', tp=1, hp=2)",
     R"({"tail": {"node": "A:a", "port": 1}, "head": {"node": "B", "port": 2}})"},
    {"unique_edges", "short(pg.unique_edges(edges=[pg.edge(b, a, 1), pg.edge(a, d), pg.edge(b, a, 1)]))",
     R"(["b.1>a.0", "a.0>d.0"])"},
    {"break_edge", "short(pg.break_edge(edge=line.edges[0], nh=d.iports[1], nt=b.oports[1]))",
     R"(["in.0>d.1", "b.1>a.0"])"},
    {"break_insert_edge",
     "short(pg.break_insert_edge(index=1, edges=line.edges + [pg.edge(b, d)], nh=d.iports[0], "
     "nt=b.oports[0]))",
     R"(["in.0>a.0", "a.0>d.0", "b.0>out.0", "b.0>d.0"])"},
    {"strip_pnodes", "pg.strip_pnodes(arr=[a, { type: 'X' }])", R"([{"type": "X"}])"},
    {"isSomething", "[pg.isSomething(val=x) for x in [null, [], {}, 0, '', false, [0], { a: 1 }]]",
     "[false, false, false, true, true, true, true, true]"},
    {"prune_key", "[pg.prune_key(obj={ a: 1, b: { c: 2 } }, key='b'), pg.prune_key({ a: 1 }, 'b')]",
     R"([{"a": 1}, {"a": 1}])"},
    {"prune_array", "pg.prune_array(arr=[null, [], {}, 0, [0]])", "[0, [0]]"},
    {"popuses", "[types(pg.popuses(l=[{ type: 'Y' }], obj=tree)), pg.popuses([], tree)[3]]",
     R"([["Y", "C", "B", "C", "A"], {"type": "A"}])"},
    {"resolve_uses", "[types(pg.resolve_uses(seq=[tree, pg.pnode(tree)])), pg.resolve_uses([tree])[1]]",
     R"([["C", "B", "C", "A", "C", "B", "C", "A"], {"type": "B"}])"},
    {"pnode",
     "[pg.pnode(inode={ type: 'A', name: 'b' }, nin=1, nout=2, name='n'), pg.pnode({ type: 'A' }, "
     "uses=[1]).uses]",
     R"([{"type": "Pnode", "name": "n", "edges": [], "uses": [{"type": "A", "name": "b"}],
          "iports": [{"node": "A:b", "port": 0}], "oports": [{"node": "A:b", "port": 0}, {"node": "A:b", "port": 1}]},
         [1, {"type": "A"}]])"},
    {"intern",
     "ports(pg.intern(innodes=[b, d], outnodes=[a], centernodes=[snk], oports=[], iports=[b.iports[0]]))",
     R"([["b0"], ["a0"]])"},
    {"pipeline", "[pg.pipeline(elements=[b, a, b], name='p').name, ports(pg.pipeline([b, a, b]))]",
     R"(["p", [["b0"], ["b0", "b1"]]])"},
    {"crossline", "ports(pg.crossline(elements=[a, b], name='x'))", R"([["a0", "b0"], ["a0", "b0", "b1"]])"},
    {"oport_node", "ports(pg.oport_node(node=b, oport_index=1))", R"([[], ["b1"]])"},
    {"iport_node", "ports(pg.iport_node(node=d, iport_index=1))", R"([["d1"], []])"},
    {"shuntline",
     "short(pg.shuntline(upstream=b, downstream=d, uports=[1, 0], dports=[0, 1], name='s').edges)",
     R"(["b.1>d.0", "b.0>d.1"])"},
    {"shuntlines", "short(pg.shuntlines(nodes=[src, b, d, snk][1:3]).edges)", R"(["b.0>d.0", "b.1>d.1"])"},
    {"components",
     "local g = pg.components(subgraphs=[line, a], name='g'); [g.name, ports(g), short(g.edges)]",
     R"(["g", [[], []], ["in.0>a.0", "a.0>out.0"]])"},
    {"insert_one",
     "local g = pg.insert_one(pnode=line, index=1, newhead=d, newtail=b, iport=1, oport=1, name='n'); "
     "[g.name, short(g.edges), std.length(pg.uses(g))]",
     R"(["n", ["in.0>a.0", "a.0>d.1", "b.1>out.0"], 5])"},
    {"insert_node",
     "local g = pg.insert_node(pnode=line, edge_to_break=line.edges[0], newhead=d, newtail=b); "
     "[g.name, short(g.edges)]",
     R"(["line", ["in.0>d.0", "b.0>a.0", "a.0>out.0"]])"},
    {"find_indices", "pg.find_indices(list=[1, { a: 1 }, 2, { a: 1 }], item={ a: 1 })", "[1, 3]"},
    {"splice",
     "short(pg.edges(pg.splice(gr=line, sg=node('tap', 1, 0), edge_selector=function(edge) edge.head.node == "
     "'Node:out', "
     "fanout_factory=function(n, edge) { type: 'Node', name: 'fan%d' % n })))",
     R"(["in.0>a.0", "a.0>fan0.0", "fan0.0>out.0", "fan0.1>tap.0"])"},
    {"join_sources", "local g = pg.join_sources(joiner=d, sources=[src, b], n=2); [ports(g), short(g.edges)]",
     R"([[[], ["d0"]], ["in.0>d.0", "b.0>d.1"]])"},
    {"edges", "short(pg.edges(graph=pg.intern(centernodes=[line, line])))", R"(["in.0>a.0", "a.0>out.0"])"},
    {"uses", "[each.name for each in pg.uses(graph=pg.intern(centernodes=[line, line]))]",
     R"(["in", "a", "out"])"},
    {"fan", "std.objectFieldsAll(pg.fan)",
     R"(["fanin", "fanin_node", "fanout", "fanout_node", "pipe", "sink", "tap"])"},
    {"main", "types(pg.main(graph=line, app='TbbFlow', plugins=[], program='', uses=[service]))",
     R"(["Service", "Node", "Node", "Node", "TbbFlow"])"},
};

const std::vector<LibraryCase> fan_cases{
    {"fanout",
     "local g = pg.fan.fanout('F', [a, b], name='n', tag_rules=[7]); [short(g.edges), std.length(g.oports), "
     "pg.uses(g)[0].data]",
     R"([["F:n.0>a.0", "F:n.1>b.0"], 3, {"multiplicity": 2, "tag_rules": [7]}])"},
    {"fanin",
     "local g = pg.fan.fanin('F', [a, b], name='n', outtags=['t']); [short(g.edges), std.length(g.iports), "
     "pg.uses(g)[2].data]",
     R"([["a.0>F:n.0", "b.0>F:n.1"], 2, {"multiplicity": 2, "tags": ["t"]}])"},
    {"pipe",
     "local g = pg.fan.pipe('F', [a], 'G', 'n', outtags=['t'], tag_rules=[1], in_tag_rules=[2]); "
     "[each.data for each in pg.uses(g) if each.type != 'Node']",
     R"([{"multiplicity": 1, "tag_rules": [1]}, {"multiplicity": 1, "tag_rules": [2], "tags": ["t"]}])"},
    {"sink",
     "local g = pg.fan.sink('F', [snk], 'n', tag_rules=[1]); [short(g.edges), g.oports, pg.uses(g)[0].data]",
     R"([["F:n.0>out.0"], [], {"multiplicity": 1, "tag_rules": [1]}])"},
    {"tap",
     "local g = pg.fan.tap('F', snk, 'n', tag_rules=[]); [short(g.edges), g.iports, g.oports, "
     "pg.uses(g)[0].data]",
     R"([["F:n.1>out.0"], [{"node": "F:n", "port": 0}], [{"node": "F:n", "port": 0}], {"multiplicity": 2}])"},
};

TEST(Pgraph, EachNameOfTheToolkitHasItsMeaning) {
    EXPECT_EQ(check_cases(cases, parts + case_parts), fields_of_wct("pgraph.jsonnet"));
    EXPECT_EQ(check_cases(fan_cases, parts + case_parts), fields_of_wct("pgraph.jsonnet fan"));
}

TEST(Pgraph, WrongCountsAndMissingEdgesAreErrors) {
    const auto contains = [](const std::string& text, const std::string& part) {
        EXPECT_NE(error_of(case_parts + text).find(part), std::string::npos) << error_of(case_parts + text);
    };
    contains("pg.shuntline(b, d, uports=[0])", "has 1 output ports, Node:d has 2 input ports");
    contains("pg.shuntlines([])", "shuntlines  of no parts");
    contains("pg.edge(a, d, -1)", "Node:a has no output port -1");
    contains("pg.insert_node(line, pg.edge(a, d), d, b)", "line has no edge");
    contains("pg.splice(line, snk, function(edge) true, function(n, edge) { type: 'F' })",
             "2 edges are selected, Node:out has 1 input ports");
}

} // namespace
