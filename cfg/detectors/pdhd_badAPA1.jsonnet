// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-HD as it was built: on anode 0, V is the collection plane and W an induction plane. The name is that of the public
// wire-cell-toolkit (spng/cfg/spng/detconfs/pdhd_badAPA1.jsonnet): "APA1" counts from one, idents count from zero.
// Source of the values: the toolkit's cfg/pgrapher/experiment/pdhd/{params,sp,sp-filters}.jsonnet; docs/decisions/bad-apa1.md.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

(import 'pdhd.jsonnet') {
    name: 'pdhd_badAPA1',
    local is_special(anode) = anode == 0,

    field_response(anode)::
        if is_special(anode) then 'np04hd-garfield-6paths-mcmc-bestfit.json.gz' else super.field_response(anode),

    // The network of nominal anodes fits U of the special one (docs/decisions/bad-apa1.md).
    network_detectors(anode):: if is_special(anode) then ['pdhd_badAPA1', 'pdhd'] else super.network_detectors(anode),

    groups(anode)::
        local nominal = super.groups(anode), wrapped = nominal[0], unwrapped = nominal[1];
        if !is_special(anode) then nominal
        else [
            wrapped { views: [wrapped.views[0]] },
            // Pulses have a tenth of the usual height, so W has its own filters, and no network, which would take noise for signal.
            unwrapped { name: 'weak', kind: 'induction', settings: 'weak', use_model: false },
            wrapped { name: 'collection', kind: 'collection', views: [wrapped.views[1]] },
        ],

    noise_image(anode)::
        if !is_special(anode) then super.noise_image(anode)
        else filters.osp_noise(filters.wiener.pdhd_badAPA1, 0.016, 0.75) {
            // Wire_col, which lets nearly everything pass; the filter for the charge does not.
            collection+: { wire: { sigma: 10 / std.sqrt(wc.pi) / 2 } },
            weak: self.induction,
        },

    filter_sets(anode)::
        if !is_special(anode) then super.filter_sets(anode)
        else {
            smooth: filters.smooth(filters.wiener.pdhd_badAPA1) {
                collection+: { wire: { sigma: 0.75 / std.sqrt(wc.pi) } },
                weak: self.induction { wire: { sigma: 0.14 } },
            },
            pdhd: filters.traditional(filters.wiener.pdhd_badAPA1) { weak: self.induction },
        },
}
