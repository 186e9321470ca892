// SPDX-License-Identifier: Apache-2.0
// Filters of the public configurations, and the named filter sets for finding ROIs, made from them. Detectors share both.
local wc = import 'wirecell.jsonnet';

local low_pass(sigma, power=2.0) = { sigma: sigma * wc.megahertz, power: power };
local high_pass(tau) = tau * wc.megahertz;

{
    /// A Gaussian-like low pass: sigma in MHz.
    low_pass:: low_pass,

    /// Wiener-like low passes of the planes U, V, W (wire-cell-toolkit, cfg/pgrapher/experiment/*/sp-filters.jsonnet).
    wiener:: {
        // The toolkit's defaults until May 2019, tuned on MicroBooNE.
        microboone: [low_pass(0.143854, 4.10358), low_pass(0.1498265, 4.2082), low_pass(0.1472005, 4.17455)],
        pdsp: [low_pass(0.1487880, 3.76194), low_pass(0.1596568, 4.36125), low_pass(0.1362300, 3.35324)],
        // Anode 0 of pdhd, where V collects (Wiener_tight_*_APA1).
        pdhd_badAPA1: [low_pass(0.203451, 5.78093), low_pass(0.160191, 3.54835), low_pass(0.125448, 5.27080)],
        sbnd: [low_pass(0.15, 5.5), low_pass(0.15, 5.0), low_pass(0.25, 3.0)],
        pdhd: [low_pass(0.221933, 6.55413), low_pass(0.222723, 8.75998), low_pass(0.225567, 3.47846)],
        // Fit to signal / (signal + noise) of this project's simulation of ProtoDUNE-HD, with 0.423 cycles per wire:
        // scripts/physics/derive_filters.py --events 2.
        simulated: [low_pass(0.2635, 6.304), low_pass(0.2652, 7.336), low_pass(0.3919, 5.285)],
    },

    /// The smearing of a point by Gaussian low passes, exp(-f^2 / (2 sigma^2)), which have a width of 1 / (2 pi sigma): along ticks
    /// of `tick` by that of the charge, and along wires by plane (sigma in cycles per wire).
    smearing(gauss, wires, tick):: {
        smear_long: [1 / (2 * wc.pi * gauss.sigma * tick) for wire in wires],
        smear_tran: [1 / (2 * wc.pi * wire) for wire in wires],
    },

    /// The image whose noise is summary_wiener: that of the tight ROIs of OmnibusSigProc (wire-cell-toolkit,
    /// sigproc/src/OmnibusSigProc.cxx, decon_2D_tightROI), so that a cut on the summary has the same effect.
    /// wiener  Wiener_tight_* filters of the planes; tau: ROI_tight_lf of the induction planes, in MHz
    /// wire    Wire_ind, in units of 1 / sqrt(pi); the toolkit's filter counts frequencies to 1 at Nyquist, ours to 0.5
    osp_noise(wiener, tau, wire):: {
        induction: { low: wiener, high: high_pass(tau), wire: { sigma: wire / std.sqrt(wc.pi) / 2 } },
        collection: { low: wiener },
    },

    // A filter set has the images of each kind of group (low pass for planes U, V, W, and high pass), the rules by which
    // ROIs grow in them, and the Wiener-like filter of the tag `wiener`. Factors are in units of a channel's noise.

    /// The traditional choice: Wiener-like images, 3 sigma with a tight high pass, 5 sigma on collection.
    traditional(wiener):: {
        wiener: wiener,
        induction: {
            images: {
                tight: { low: wiener, high: high_pass(0.080) },
                loose: { low: wiener, high: high_pass(0.002) },
            },
            noise: {},
            passes: [{ seed: ['tight'], grow: 'loose' }],
            witness: { threshold_rms_factor: 3.0, grow_rms_factor: 1.0 },
            rois: { seed_rms_factor: 3.0, lone_seed_rms_factor: 4.0, grow_rms_factor: 1.0, neighbour_rms_factor: 2.0, pad: 1 },
        },
        collection: {
            images: { tight: { low: wiener } },
            noise: {},
            passes: [{ seed: ['tight'], grow: 'tight' }],
            witness: { threshold_rms_factor: 5.0, grow_rms_factor: 2.0, pad: 1 },
        },
    },

    /// One low pass for all induction planes, with the best bandwidth for the noise, and a search for long pulses
    /// (docs/decisions/regions.md). low, collection: other low passes of the induction and collection images.
    smooth(wiener, low=[low_pass(0.12), low_pass(0.12), low_pass(0.12)], collection=[low_pass(0.17, 3.4), low_pass(0.17, 3.4), low_pass(0.17, 3.4)]):: {
        wiener: wiener,
        induction: {
            // As sharp as possible without undershoot beside the pulses of steep tracks, which would lower the baseline of an
            // ROI (docs/decisions/wire-filter.md).
            wire: { sigma: 0.27 },
            images: {
                tight: { low: low, high: high_pass(0.010) },
                loose: { low: low, high: high_pass(0.002) },
            },
            long_pulses: { clip: 5.0, samples: [17, 51], cut: 3.0, stride: 4 },
            noise: { cut: 3.0, stride: 4 },
            passes: [
                { seed: ['tight'], grow: 'tight' },
                { seed: ['long17', 'long51'], grow: 'loose', confirmed_fraction: 0.25 },
            ],
            witness: { threshold_rms_factor: 4.0, grow_rms_factor: 1.0, weak_rms_factor: 3.0 },
            rois: { seed_rms_factor: 4.0, lone_seed_rms_factor: 5.0, grow_rms_factor: 1.0, neighbour_rms_factor: -1.0, pad: 1 },
        },
        collection: {
            images: { tight: { low: collection } },
            noise: { cut: 3.0, stride: 4, cap: 3.0 },
            passes: [{ seed: ['tight'], grow: 'tight' }],
            witness: { threshold_rms_factor: 5.0, grow_rms_factor: 2.0, pad: 1 },
        },
    },

    /// `smooth` with purer ROIs, for detectors with little noise beside the charge of a true pixel (docs/decisions/detectors.md): wider low
    /// passes, sigma in MHz, make pulses shorter; ROIs grow to a neighbouring wire only where it is above `neighbour`, and on
    /// collection along ticks only above `grow`.
    pure(wiener, induction, collection, neighbour, grow)::
        local three(shape) = [shape, shape, shape];
        self.smooth(wiener, three(low_pass(induction)), three(low_pass(collection, 3.4))) {
            induction+: { rois+: { neighbour_rms_factor: neighbour } },
            collection+: { witness+: { grow_rms_factor: grow } },
        },
}
