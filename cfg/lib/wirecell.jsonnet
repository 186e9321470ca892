// SPDX-License-Identifier: Apache-2.0
// Units and small helpers: `local wc = import 'wirecell.jsonnet'`. It has all names of the Wire-Cell Toolkit's library of this
// name, with the same meaning and the same names of arguments; differences are in docs/migration.md.
//
// Write a quantity as value * unit, read it as quantity / unit: `2.2 * wc.us`, `gain / (wc.mV / wc.fC)`.
// Base units are millimetre, nanosecond, MeV, the positron's charge, kelvin, mole, candela and radian; all others follow from
// them.
local indices(list) = std.range(0, std.length(list) - 1);

{
    // Pure numbers
    pi: 3.14159265358979323846,
    twopi: 2.0 * self.pi,
    halfpi: 0.5 * self.pi,
    pi2: self.pi * self.pi,
    sqrtpi: std.sqrt(self.pi),
    percent: 0.01,
    perCent: self.percent,
    perThousand: 1.0e-3,
    perMillion: 1.0e-6,

    // Length
    mm: 1.0,
    fermi: 1.0e-12 * self.mm,
    angstrom: 1.0e-7 * self.mm,
    nm: 1.0e-6 * self.mm,
    um: 1.0e-3 * self.mm,
    cm: 10.0 * self.mm,
    m: 1000.0 * self.mm,
    km: 1000.0 * self.m,
    pc: 3.0856775807e16 * self.m,
    nanometer: self.nm,
    micrometer: self.um,
    millimeter: self.mm,
    centimeter: self.cm,
    meter: self.m,
    kilometer: self.km,
    parsec: self.pc,

    // Area and volume; a barn is 100 square femtometres
    mm2: self.mm * self.mm,
    cm2: self.cm * self.cm,
    m2: self.m * self.m,
    km2: self.km * self.km,
    mm3: self.mm2 * self.mm,
    cm3: self.cm2 * self.cm,
    m3: self.m2 * self.m,
    km3: self.km2 * self.km,
    millimeter2: self.mm2,
    centimeter2: self.cm2,
    meter2: self.m2,
    kilometer2: self.km2,
    millimeter3: self.mm3,
    centimeter3: self.cm3,
    meter3: self.m3,
    kilometer3: self.km3,
    barn: 100.0 * self.fermi * self.fermi,
    millibarn: 1.0e-3 * self.barn,
    microbarn: 1.0e-6 * self.barn,
    nanobarn: 1.0e-9 * self.barn,
    picobarn: 1.0e-12 * self.barn,

    // Angle and solid angle
    rad: 1.0,
    mrad: 1.0e-3 * self.rad,
    deg: self.pi / 180.0 * self.rad,
    sr: 1.0,
    radian: self.rad,
    milliradian: self.mrad,
    degree: self.deg,
    steradian: self.sr,

    // Time and frequency
    ns: 1.0,
    picosecond: 1.0e-3 * self.ns,
    us: 1.0e3 * self.ns,
    ms: 1.0e6 * self.ns,
    s: 1.0e9 * self.ns,
    nanosecond: self.ns,
    microsecond: self.us,
    millisecond: self.ms,
    second: self.s,
    hertz: 1.0 / self.s,
    kilohertz: 1.0e3 * self.hertz,
    megahertz: 1.0e6 * self.hertz,
    gigahertz: 1.0e9 * self.hertz,

    // Charge; the value in coulomb is exact by the definition of the SI (2019)
    eplus: 1.0,
    e_SI: 1.602176634e-19,
    coulomb: self.eplus / self.e_SI,
    fC: 1.0e-15 * self.coulomb,
    pC: 1.0e-12 * self.coulomb,

    // Energy and power
    MeV: 1.0,
    eV: 1.0e-6 * self.MeV,
    keV: 1.0e-3 * self.MeV,
    GeV: 1.0e3 * self.MeV,
    TeV: 1.0e6 * self.MeV,
    PeV: 1.0e9 * self.MeV,
    electronvolt: self.eV,
    kiloelectronvolt: self.keV,
    megaelectronvolt: self.MeV,
    gigaelectronvolt: self.GeV,
    teraelectronvolt: self.TeV,
    petaelectronvolt: self.PeV,
    joule: self.eV / self.e_SI,
    watt: self.joule / self.s,

    // Mass, force, pressure
    kg: self.joule * self.s * self.s / self.m2,
    g: 1.0e-3 * self.kg,
    mg: 1.0e-3 * self.g,
    kilogram: self.kg,
    gram: self.g,
    milligram: self.mg,
    newton: self.joule / self.m,
    pascal: self.newton / self.m2,
    bar: 1.0e5 * self.pascal,
    atmosphere: 101325.0 * self.pascal,

    // Current and potential: one MeV moves one positron through one megavolt
    ampere: self.coulomb / self.s,
    milliampere: 1.0e-3 * self.ampere,
    microampere: 1.0e-6 * self.ampere,
    nanoampere: 1.0e-9 * self.ampere,
    megavolt: self.MeV / self.eplus,
    kilovolt: 1.0e-3 * self.megavolt,
    volt: 1.0e-6 * self.megavolt,
    millivolt: 1.0e-3 * self.volt,
    microvolt: 1.0e-6 * self.volt,
    mV: self.millivolt,
    uV: self.microvolt,

    // Resistance, capacitance, magnetism
    ohm: self.volt / self.ampere,
    farad: self.coulomb / self.volt,
    millifarad: 1.0e-3 * self.farad,
    microfarad: 1.0e-6 * self.farad,
    nanofarad: 1.0e-9 * self.farad,
    picofarad: 1.0e-12 * self.farad,
    weber: self.volt * self.s,
    tesla: self.weber / self.m2,
    gauss: 1.0e-4 * self.tesla,
    kilogauss: 0.1 * self.tesla,
    henry: self.weber / self.ampere,

    // Temperature, amount of substance, activity, absorbed dose, light
    kelvin: 1.0,
    mole: 1.0,
    Bq: 1.0 / self.s,
    kBq: 1.0e3 * self.Bq,
    MBq: 1.0e6 * self.Bq,
    GBq: 1.0e9 * self.Bq,
    Ci: 3.7e10 * self.Bq,
    mCi: 1.0e-3 * self.Ci,
    uCi: 1.0e-6 * self.Ci,
    becquerel: self.Bq,
    kilobecquerel: self.kBq,
    megabecquerel: self.MBq,
    gigabecquerel: self.GBq,
    curie: self.Ci,
    millicurie: self.mCi,
    microcurie: self.uCi,
    gray: self.joule / self.kg,
    kilogray: 1.0e3 * self.gray,
    milligray: 1.0e-3 * self.gray,
    microgray: 1.0e-6 * self.gray,
    candela: 1.0,
    lumen: self.candela * self.sr,
    lux: self.lumen / self.m2,

    // Speeds: of light, and of electrons at 500 V/cm
    clight: 299792458.0 * self.m / self.s,
    nominal_drift_velocity: 1.6 * self.mm / self.us,

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
    debug(obj, msg='debug'):: std.trace(msg + std.toString(obj), obj),

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
