// SPDX-License-Identifier: Apache-2.0
// Units and small helpers: `local wc = import 'wirecell.jsonnet'`. It has all names of the Wire-Cell Toolkit's library of this
// name, with the same meaning and the same names of arguments; differences are in docs/migration.md.
//
// Write a quantity as value * unit, read it as quantity / unit: `2.2 * wc.us`, `gain / (wc.mV / wc.fC)`.
// Base units are millimetre, nanosecond, MeV, the positron's charge, kelvin, mole, candela and radian; all others follow from
// them. The jobs of this project use those written here; wct_units.json has the values of all others in the base units.
local indices(list) = std.range(0, std.length(list) - 1);

(import 'wct_units.json') {
    pi: 3.14159265358979323846,

    // Length and area
    mm: 1.0,
    cm: 10.0 * self.mm,
    m: 1000.0 * self.mm,
    cm2: self.cm * self.cm,

    // Time and frequency
    ns: 1.0,
    us: 1.0e3 * self.ns,
    ms: 1.0e6 * self.ns,
    s: 1.0e9 * self.ns,
    hertz: 1.0 / self.s,
    kilohertz: 1.0e3 * self.hertz,
    megahertz: 1.0e6 * self.hertz,

    // Charge; the value in coulomb is exact by the definition of the SI (2019)
    eplus: 1.0,
    e_SI: 1.602176634e-19,
    coulomb: self.eplus / self.e_SI,
    fC: 1.0e-15 * self.coulomb,

    // Energy and potential: one MeV moves one positron through one megavolt
    MeV: 1.0,
    megavolt: self.MeV / self.eplus,
    volt: 1.0e-6 * self.megavolt,
    mV: 1.0e-3 * self.volt,

    // Points and lines ----------------------------------------------------------------------------------------------

    /// Return the point with coordinates in units of u.
    point(x, y, z, u):: { x: u * x, y: u * y, z: u * z },
    /// Return the straight line from p1 to p2.
    ray(p1, p2):: { tail: p1, head: p2 },
    Point:: self.point(0, 0, 0, 1),
    Ray:: self.ray(self.Point, self.Point),
    /// A line of charge -1 at time 0, to be extended: `wc.Track { ray: ... }`.
    Track:: { time: 0.0, charge: -1, ray: $.Ray },

    // Wire plane identifiers: bits of the layer, then one bit of the face, then the anode ----------------------------

    Ulayer: 1,
    Vlayer: 2,
    Wlayer: 4,
    layers:: [self.Ulayer, self.Vlayer, self.Wlayer],
    WirePlaneId(layer, face=0, apa=0):: (layer & 7) | (face << 3) | (apa << 4),

    /// Return the bit of the plane with this index, 0 to 2.
    wpid_index_to_layer(layer):: 1 << layer,
    /// Return the indices of all planes whose bits are set.
    wpid_layer_to_indices(layer):: [index for index in indices(self.layers) if (layer & self.layers[index]) != 0],
    /// Return the index of the only plane whose bit is set.
    wpid_layer_to_index(layer)::
        local found = self.wpid_layer_to_indices(layer);
        if std.length(found) == 1 then found[0]
        else error 'layer ' + layer + ' is not one plane: expected 1 (U), 2 (V) or 4 (W)',
    /// Return the parts of an identifier, and a name such as "a0f1u".
    unpack_wpid(wpid)::
        local index = $.wpid_layer_to_index(wpid & 7);
        {
            apa: wpid >> 4,
            face: (wpid >> 3) & 1,
            layer: wpid & 7,
            index: index,
            letter: 'uvw'[index],
            name: 'a%df%d%s' % [self.apa, self.face, self.letter],
        },

    // Components ----------------------------------------------------------------------------------------------------

    /// An empty component, to be extended.
    Component:: { type: '', name: '', data: {} },
    TrackDepos:: self.Component { type: 'TrackDepos' },

    /// Return the reference to a component: "Type:name", or "Type" if it has no name.
    tn(obj)::
        local name = if std.objectHas(obj, 'name') then obj.name else '';
        if name == '' then obj.type else obj.type + ':' + name,
    /// Return the references to a list of components.
    tns(objs):: std.map($.tn, objs),

    // Lists and objects ---------------------------------------------------------------------------------------------

    /// Return [0, 1, ... end-1].
    iota(end):: std.range(0, end - 1),
    /// Return { index, value } of each element.
    enumerate(sequence):: [{ index: i, value: sequence[i] } for i in indices(sequence)],
    /// Return [index, value] of each element.
    enumerate_pair(sequence):: [[i, sequence[i]] for i in indices(sequence)],
    /// Return the index of the first element that equals val.
    index_of(arr, val):: std.filter(function(i) arr[i] == val, indices(arr))[0],
    /// Return the sum of the elements.
    sum(arr):: std.foldl(function(total, value) total + value, arr, 0),
    /// Return the elements of all lists of a list.
    flatten(lol):: std.flattenArrays(lol),
    /// Return the elements of lists of any depth.
    deep_flatten(lolol):: std.flattenArrays([if std.isArray(each) then $.deep_flatten(each) else [each] for each in lolol]),

    /// Return the elements of a list in order, each once.
    unique_list(seq)::
        local first = { [std.manifestJsonEx(seq[i], '') + '\n' + (1000000 + i)]: i for i in indices(seq) };
        local keys = std.objectFields(first);
        local value(key) = std.substr(key, 0, std.length(key) - 8);
        local kept = std.set([
            first[keys[j]]
            for j in indices(keys)
            if j == 0 || value(keys[j]) != value(keys[j - 1])
        ]);
        [seq[i] for i in kept],

    /// Return the field of an object, or a default. inc_hidden: also find hidden fields
    get(o, f, default=null, inc_hidden=true)::
        if std.objectHasEx(o, f, inc_hidden) then o[f] else default,
    /// Return the object with only those of the keys that it has.
    object_with(obj, keys):: { [key]: obj[key] for key in keys if std.objectHas(obj, key) },

    // Arguments of the command line, which are text -----------------------------------------------------------------

    /// Return a list: the parts of a text divided at d, the values of an object, or the list itself.
    listify(l, d=',')::
        if std.isString(l) then std.split(l, d)
        else if std.isObject(l) then [l[key] for key in std.objectFields(l)]
        else l,
    /// Return an integer: from text, or the next one that is not below a number.
    intify(number):: if std.isString(number) then std.parseInt(number) else std.ceil(number),
    /// Return a number, also from text.
    numberify(number):: if std.isString(number) then std.parseJson(number) else number,
    /// Return a list of integers from a list, a number, or text divided at commas.
    intlistify(stuff)::
        if std.isNumber(stuff) then [stuff]
        else
            local given = if std.isArray(stuff) then stuff else [part for part in $.listify(stuff) if part != ''];
            std.map($.intify, given),

    /// Return the integer nearest to a number; halves go up.
    roundToInt(x):: std.floor(x + 0.5),
    /// Return the last part of a path, without the ending ext if it has this ending.
    basename(name, ext='', delim='/')::
        local parts = std.split(name, delim);
        local last = parts[std.length(parts) - 1];
        if std.endsWith(last, ext) then std.substr(last, 0, std.length(last) - std.length(ext)) else last,
    /// Return obj, and print it.
    debug(obj, msg='debug'):: (import 'debug.jsonnet')(obj, msg),

    // Frequencies to be removed, as channel noise databases list them -----------------------------------------------

    /// Return functions that convert frequencies to bins of the discrete Fourier transform of nsamples ticks.
    freqbinner:: function(tick, nsamples)
        local bins = self;
        local all_pass = { value: 1.0, lobin: 0, hibin: nsamples - 1 };
        {
            local binner = self,
            nyquist: 1.0 / (2.0 * tick),
            hz_perbin: 1.0 / (nsamples * (tick / bins.s)),
            /// Return the bin of a frequency.
            bin:: function(frequency) std.floor(frequency / bins.hertz / binner.hz_perbin),
            /// Return the first and the last bin of a band about a frequency, within 0 and the Nyquist frequency.
            bin_range:: function(meanfreq, deltafreq) [
                binner.bin(std.max(meanfreq - deltafreq, 0)),
                binner.bin(std.min(meanfreq + deltafreq, binner.nyquist)),
            ],
            /// Return masks that pass all but bands about frequencies, on the positive side of the spectrum.
            freqmasks:: function(meanfreqs, delta)
                local band(frequency) =
                    local range = binner.bin_range(frequency, delta);
                    { value: 0.0, lobin: range[0], hibin: range[1] };
                [all_pass] + std.map(band, meanfreqs),
            /// Return the same with each band also on the negative side, so that waveforms stay real.
            freqmasks_mirror:: function(meanfreqs, delta)
                local both(mask) = [mask, mask { lobin: nsamples - mask.hibin, hibin: nsamples - mask.lobin }];
                [all_pass] + std.flatMap(both, binner.freqmasks(meanfreqs, delta)[1:]),
            /// An example: the twelve lines of the Wire-Cell Toolkit's library.
            testfreqs:: [
                bins.kilohertz * f
                for f in [51.5, 102.8, 154.2, 205.5, 256.8, 308.2, 359.2, 410.5, 461.8, 513.2, 564.5, 615.8]
            ],
            testmasks: binner.freqmasks(binner.testfreqs, 2 * bins.kilohertz),
        },
    /// Return masks of bands about frequencies, in units of frequency instead of bins.
    freqmasks_phys:: function(meanfreqs, delta) [{ value: 0.0, flo: f - delta, fhi: f + delta } for f in meanfreqs],
}
