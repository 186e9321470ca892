// SPDX-License-Identifier: Apache-2.0
// The detector of a job, its anodes, and their groups of views.
local detectors = import '../detectors/all.jsonnet';
local args = import 'arguments.jsonnet';

{
    /// Return the description of a detector: a name in detectors/all.jsonnet, or a description itself.
    detector(detname)::
        if std.isObject(detname) then detname
        else if std.objectHas(detectors, detname) then detectors[detname]
        else error "unknown detector '" + detname + "'; known: " + std.join(', ', std.objectFields(detectors)),

    /// Return the ids of the job's anodes. tpcid: one id, several (a list, or a string with commas), or `all` of the detector.
    chosen(det, tpcid)::
        local ids =
            if tpcid == 'all' then det.anodes
            else [args.whole('tpcid', each) for each in if std.isNumber(tpcid) then [tpcid] else args.list(tpcid)];
        local unknown = [id for id in ids if !std.member(det.anodes, id)];
        local text(list) = std.join(', ', [std.toString(id) for id in list]);
        if ids == [] then error "argument 'tpcid' names no anode; " + det.name + ' has ' + text(det.anodes)
        else if unknown != [] then error det.name + ' has no anode ' + text(unknown) + '; its anodes: ' + text(det.anodes)
        else if std.length(std.set(ids)) != std.length(ids) then error "argument 'tpcid' names an anode twice: " + text(ids)
        else ids,

    /// Return the name of anodes in nodes and files: anode1, anodes0+2+3; for more than four, only the first and the last.
    label(anodes)::
        local count = std.length(anodes);
        if count == 1 then 'anode' + anodes[0]
        else if count <= 4 then 'anodes' + $.numbers(anodes)
        else 'anodes' + anodes[0] + '..' + anodes[count - 1],

    numbers(anodes):: std.join('+', [std.toString(anode) for anode in anodes]),

    /// Return the groups of views of a job, as a list for each batch of anodes: [[group...]...].
    /// groups   function that returns the groups of an anode. Each copy gets the fields `anodes` and `plain_name`, the hidden field
    ///          `groups` with all groups of the job, and each of its views the field `anode`; in a job of several anodes the names
    ///          of groups begin with those of the anodes
    /// batches  the anodes that share tensors: [[0, 2, 3], [1]]
    views(groups, batches)::
        local is_one = std.length(batches) == 1 && std.length(batches[0]) == 1;
        local prefix(anodes) = if is_one then '' else $.label(anodes) + '-';
        local all = std.flattenArrays(found), found = [
            [
                local views = [
                    view { name: prefix([anode]) + view.name, anode: anode }
                    for anode in batch
                    for view in group.views
                ];
                group { name: prefix(batch) + group.name, plain_name: group.name, anodes: batch, views: views, groups:: all }
                for group in groups(batch[0])
            ]
            for batch in batches
        ];
        found,
}
