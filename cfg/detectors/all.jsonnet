// SPDX-License-Identifier: Apache-2.0
// The detectors by the name that the job argument `detname` takes. Imports are evaluated only when asked for.
{
    microboone: import 'microboone.jsonnet',
    pdhd: import 'pdhd.jsonnet',
    pdhd_badAPA1: import 'pdhd_badAPA1.jsonnet',
    pdsp: import 'pdsp.jsonnet',
}
