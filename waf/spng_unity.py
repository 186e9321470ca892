# SPDX-License-Identifier: Apache-2.0
"""Unity chunks: a few sources of one folder are joined into one file and compiled together.

Most of the time of a compilation goes into the headers and templates of LibTorch, so eight sources cost little more
than one (docs/decisions/build.md). Line directives keep messages and debug information at the sources themselves.

A name in an unnamed namespace, such as the `registration` of every node, belongs to its file. Where another source of
the chunk uses the same name, the joined file has it with the suffix of its source, so that sources need not know with
which others they are compiled.
"""

import hashlib
import os
import re

from waflib.Configure import conf

# A source that defines a macro is compiled alone: the macro may change the headers of the next one. So is the one
# that has the commit, which changes with the first local change.
ALONE = re.compile(r'^[ \t]*#[ \t]*(?:define|undef|include "spng/build_commit\.h")', re.MULTILINE)

# clang-format leaves the comment at the end out where the namespace has one line.
UNNAMED_NAMESPACE = re.compile(
    r"^namespace \{\n(\S[^\n]*\n(?=\})|.*?^\} // namespace$)", re.MULTILINE | re.DOTALL
)
TYPE = re.compile(r"(?:class|struct|union|enum(?: class)?) (\w+)|using (\w+) =")
HEAD = re.compile(r"[^(={;\[]*?(\w+)\s*[(={;\[]")
# Macros of GoogleTest make the names of tests of it.
FIXTURE = re.compile(r"\bTEST_[FP]\((\w+)")
NO_DECLARATION = re.compile(r"[\s}/#)]|using |template|static_assert|extern|namespace|[A-Z0-9_]+\(")

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|R"(?P<end>\w*)\(.*?\)(?P=end)"|\b\d[\w\'.]*|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'|(?P<member>(?:\.|->|::)\s*\w+)|(?P<name>\b[A-Za-z_]\w*)",
    re.MULTILINE | re.DOTALL,
)
LOCAL_INCLUDE = re.compile(r'^#include "([^"/]+)"', re.MULTILINE)


def configure(cfg):
    cfg.env.UNITY = max(1, getattr(cfg.options, "unity", 8))
    if cfg.env.UNITY > 1 and cfg.env.CXX_NAME == "gcc":
        # It takes the types of a joined source for those of a header.
        cfg.env.append_unique("CXXFLAGS", ["-Wno-subobject-linkage"])
    with open(__file__, "rb") as stream:
        cfg.env.UNITY_TOOL = hashlib.sha256(stream.read()).hexdigest()


@conf
def chunks_of(bld, sources, name):
    """Return what to compile in place of the sources: generated files of up to --unity sources of one folder each."""
    result, folders = [], {}
    for source in sources:
        if bld.env.UNITY == 1 or source.is_bld() or ALONE.search(source.read(encoding="utf-8")):
            result.append(source)
        else:
            folders.setdefault(source.parent.path_from(bld.path), []).append(source)
    for folder, members in sorted(folders.items()):
        count = -(-len(members) // bld.env.UNITY)
        for index in range(count):
            part = members[len(members) * index // count : len(members) * (index + 1) // count]
            if len(part) == 1:
                result += part
                continue
            target = bld.path.find_or_declare(f"unity/{name}/{folder}/{index + 1}_of_{count}.cxx")
            # In the first group, which is always built: --targets names only what compiles the chunk.
            bld(
                rule=join,
                source=part,
                target=target,
                vars=["UNITY_TOOL"],
                cls_keyword=lambda task: "Joining",
                group=0,
            )
            result.append(target)
    return result


def join(task):
    """Write the chunk."""
    build = task.generator.bld
    task.outputs[0].write(joined(task.inputs, build.path, build.bldnode), encoding="utf-8")


def joined(sources, root, folder):
    """Return the text of a chunk that is compiled in the folder."""
    contents = [source.read(encoding="utf-8") for source in sources]
    words = [{token["name"] for token in TOKEN.finditer(text)} for text in contents]
    parts = []
    for index, (source, text) in enumerate(zip(sources, contents)):
        used_elsewhere = set().union(*(words[:index] + words[index + 1 :]))
        suffix = "_in_" + re.sub(r"\W", "_", os.path.splitext(source.name)[0])
        text = with_suffix(text, local_names(text) & used_elsewhere, suffix)
        text = with_whole_includes(text, source, root)
        parts.append(f'#line 1 "{source.path_from(folder)}"\n{text}')
    return "\n".join(parts)


def local_names(text):
    """Return the names that the unnamed namespaces of a source declare."""
    names = set()
    for space in UNNAMED_NAMESPACE.findall(text):
        for line in re.sub(r"\[\[\w+\]\] ?", "", space).splitlines():
            if not line:
                continue
            found = TYPE.match(line)
            if found:
                names.add(found[1] or found[2])
            elif not NO_DECLARATION.match(line):
                found = HEAD.match(without_arguments(line))
                if found and found[1] != "operator":
                    names.add(found[1])
    return names - set(FIXTURE.findall(text))


def without_arguments(line):
    """Return the line without its template arguments."""
    shorter = re.sub(r"<[^<>()]*>", "", line)
    return shorter if shorter == line else without_arguments(shorter)


def with_suffix(text, names, suffix):
    """Append the suffix to each of the names, except in text, comments, directives, and behind '.', '->' and '::'."""

    def renamed(token):
        return token[0] + suffix if token["name"] in names else token[0]

    return TOKEN.sub(renamed, text) if names else text


def with_whole_includes(text, node, root):
    """Name headers beside the source from the root."""

    def whole(directive):
        beside = node.parent.find_node(directive[1])
        return f'#include "{beside.path_from(root)}"' if beside else directive[0]

    return LOCAL_INCLUDE.sub(whole, text)
