// SPDX-License-Identifier: Apache-2.0
// The parts of a graph: which nodes are head, body and tail, and who gets the set of which slot.

#include "spng/graph/parts.h"

#include "spng/graph/node.h"
#include "tests/support/components.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace spng {
namespace {

class PartsNode : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override { return inputs; }
};
class PartsSource : public PartsNode {};
class PartsWork : public PartsNode {};
class PartsJoin : public PartsNode {};
class PartsSerial : public PartsNode {};
class PartsTap : public PartsNode {};
class PartsSink : public PartsNode {};

const Registration<PartsSource> source{
    {.type = "TestPartsSource", .kind = "source", .outputs = {"a"}, .text = "test"}};
const Registration<PartsWork> work{
    {.type = "TestPartsWork", .kind = "roi", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<PartsJoin> join{
    {.type = "TestPartsJoin", .kind = "roi", .inputs = {"a", "b"}, .outputs = {"a"}, .text = "test"}};
const Registration<PartsSerial> serial{{.type = "TestPartsSerial",
                                        .kind = "roi",
                                        .inputs = {"a"},
                                        .outputs = {"a"},
                                        .concurrency = Concurrency::serial,
                                        .text = "test"}};
const Registration<PartsTap> tap{{.type = "TestPartsTap",
                                  .kind = "plumbing",
                                  .inputs = {"a"},
                                  .outputs = {"a"},
                                  .concurrency = Concurrency::serial,
                                  .is_tap = true,
                                  .text = "test"}};
const Registration<PartsSink> sink{{.type = "TestPartsSink",
                                    .kind = "sink",
                                    .inputs = {"a"},
                                    .concurrency = Concurrency::serial,
                                    .text = "test"}};

class PartsOf : public testing::Test {
protected:
    /// Split a graph of nodes without configuration; all ports are 0 but where named.
    Parts split_of(const std::vector<EdgeConfig>& edges) {
        std::set<std::string> names;
        for (const EdgeConfig& edge : edges) {
            names.insert({edge.tail.node, edge.head.node});
        }
        for (const std::string& name : names) {
            m_components.add(name, nlohmann::json::object());
        }
        return split(Graph(m_components.environment(), edges, "test"));
    }
    static std::string names(const std::vector<Step>& steps) {
        std::string all;
        for (const Step& step : steps) {
            all +=
                (all.empty() ? "" : " ") + step.node->name().text().substr(std::string("TestParts").size());
        }
        return all;
    }
    test::Components m_components;
};

TEST_F(PartsOf, ATapIsPartOfTheTailAndNotInTheWay) {
    const Parts parts = split_of({{{"TestPartsSource", 0}, {"TestPartsWork:a", 0}},
                                  {{"TestPartsWork:a", 0}, {"TestPartsTap:1", 0}},
                                  {{"TestPartsTap:1", 0}, {"TestPartsTap:2", 0}},
                                  {{"TestPartsTap:2", 0}, {"TestPartsWork:b", 0}},
                                  {{"TestPartsWork:b", 0}, {"TestPartsSink", 0}}});
    EXPECT_EQ(names(parts.head), "Source");
    EXPECT_EQ(names(parts.body), "Work:a Work:b");
    EXPECT_EQ(names(parts.tail), "Tap:1 Tap:2 Sink");
    const std::size_t tapped = parts.body[0].outputs.front();
    EXPECT_EQ(parts.body[1].inputs, (std::vector<std::size_t>{tapped}));
    EXPECT_EQ(parts.tail[0].inputs, (std::vector<std::size_t>{tapped}));
    EXPECT_EQ(parts.tail[1].inputs, (std::vector<std::size_t>{tapped}));
    EXPECT_TRUE(parts.tail[0].outputs.empty());
    EXPECT_TRUE(parts.leaves[tapped]);
    EXPECT_FALSE(parts.leaves[parts.head[0].outputs.front()]);
    EXPECT_TRUE(parts.leaves[parts.body[1].outputs.front()]);
}

TEST_F(PartsOf, AllNodesBehindAnotherSerialNodeAreInTheTail) {
    const Parts parts = split_of({{{"TestPartsSource", 0}, {"TestPartsWork:a", 0}},
                                  {{"TestPartsWork:a", 0}, {"TestPartsSerial", 0}},
                                  {{"TestPartsSerial", 0}, {"TestPartsWork:b", 0}},
                                  {{"TestPartsWork:b", 0}, {"TestPartsSink", 0}}});
    EXPECT_EQ(names(parts.body), "Work:a");
    EXPECT_EQ(names(parts.tail), "Serial Work:b Sink");
}

TEST_F(PartsOf, SeveralSourcesAreOneHead) {
    const Parts parts = split_of({{{"TestPartsSource:a", 0}, {"TestPartsJoin", 0}},
                                  {{"TestPartsSource:b", 0}, {"TestPartsJoin", 1}},
                                  {{"TestPartsJoin", 0}, {"TestPartsSink", 0}}});
    EXPECT_EQ(names(parts.head), "Source:a Source:b");
    EXPECT_EQ(names(parts.body), "Join");
}

TEST_F(PartsOf, WithoutABodyTheTailReadsTheHead) {
    const Parts parts = split_of({{{"TestPartsSource", 0}, {"TestPartsSink", 0}}});
    EXPECT_TRUE(parts.body.empty());
    EXPECT_TRUE(parts.leaves[parts.head[0].outputs.front()]);
}

} // namespace
} // namespace spng
