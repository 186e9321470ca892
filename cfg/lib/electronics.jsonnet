// SPDX-License-Identifier: Apache-2.0
// The electronics of a detector description: `electronics` is one object, or a list with those of the planes U, V, W. `type`
// is the component (ColdElecResponse unless given), and the other fields are its keys.

{
    /// Return the components: one for all planes, or one for each of the planes.
    components(det)::
        local component(name, electronics) = {
            local has_source = std.objectHas(electronics, 'filename') && std.objectHasAll(det, 'file_source'),
            type: std.get(electronics, 'type', 'ColdElecResponse'),
            name: name,
            data: { [if has_source then 'source']: det.file_source }
                  + { [key]: electronics[key] for key in std.objectFields(electronics) if key != 'type' },
        };
        if std.isArray(det.electronics)
        then [component(det.name + '-plane' + plane, det.electronics[plane]) for plane in [0, 1, 2]]
        else [component(det.name, det.electronics)],

    /// Return the component of a plane.
    of_plane(components, plane):: components[std.min(plane, std.length(components) - 1)],
}
