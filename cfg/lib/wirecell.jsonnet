// SPDX-License-Identifier: Apache-2.0
// Units and small helpers, under the Wire-Cell Toolkit's names: `local wc = import 'wirecell.jsonnet'`.
//
// Write a quantity as value * unit, read it as quantity / unit: `2.2 * wc.us`, `gain / (wc.mV / wc.fC)`.
// Base units are millimetre, nanosecond, MeV, the positron's charge, kelvin and radian; all others follow from them.
{
    // Length, area, volume
    mm: 1.0,
    um: 1.0e-3 * self.mm,
    cm: 10.0 * self.mm,
    m: 1000.0 * self.mm,
    km: 1000.0 * self.m,
    millimeter: self.mm,
    centimeter: self.cm,
    meter: self.m,
    mm2: self.mm * self.mm,
    cm2: self.cm * self.cm,
    m2: self.m * self.m,
    cm3: self.cm2 * self.cm,
    m3: self.m2 * self.m,

    // Time and frequency
    ns: 1.0,
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

    // Energy and mass
    MeV: 1.0,
    eV: 1.0e-6 * self.MeV,
    keV: 1.0e-3 * self.MeV,
    GeV: 1.0e3 * self.MeV,
    joule: self.eV / self.elementary_charge_in_coulomb,
    kg: self.joule * self.s * self.s / self.m2,
    gram: 1.0e-3 * self.kg,

    // Charge; the value in coulomb is exact by the definition of the SI (2019)
    elementary_charge_in_coulomb:: 1.602176634e-19,
    eplus: 1.0,
    coulomb: self.eplus / self.elementary_charge_in_coulomb,
    fC: 1.0e-15 * self.coulomb,
    pC: 1.0e-12 * self.coulomb,

    // Current and potential: one MeV moves one positron through one megavolt
    ampere: self.coulomb / self.s,
    megavolt: self.MeV / self.eplus,
    volt: 1.0e-6 * self.megavolt,
    millivolt: 1.0e-3 * self.volt,
    microvolt: 1.0e-6 * self.volt,
    mV: self.millivolt,

    // Angle, temperature, pure numbers
    radian: 1.0,
    degree: self.pi / 180.0 * self.radian,
    kelvin: 1.0,
    pi: 3.14159265358979323846,
    percent: 0.01,
    clight: 299792458.0 * self.m / self.s,

    /// Return the reference to a component: "Type:name", or "Type" if it has no name.
    tn(component)::
        local name = if std.objectHas(component, 'name') then component.name else '';
        if name == '' then component.type else component.type + ':' + name,

    /// Return [0, 1, ... n-1].
    iota(n):: std.range(0, n - 1),

    /// Return the elements of a list in order, each once.
    unique_list(list)::
        local first = { [std.manifestJsonEx(list[i], '') + '\n' + (1000000 + i)]: i for i in std.range(0, std.length(list) - 1) };
        local keys = std.objectFields(first);
        local value(key) = std.substr(key, 0, std.length(key) - 8);
        local kept = std.set([
            first[keys[j]]
            for j in std.range(0, std.length(keys) - 1)
            if j == 0 || value(keys[j]) != value(keys[j - 1])
        ]);
        [list[i] for i in kept],

    // Wire plane identifiers: bits of the layer, then one bit of the face, then the anode
    Ulayer: 1,
    Vlayer: 2,
    Wlayer: 4,
    layers: [self.Ulayer, self.Vlayer, self.Wlayer],
    WirePlaneId(layer, face=0, anode=0):: layer + 8 * face + 16 * anode,
}
