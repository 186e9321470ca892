// SPDX-License-Identifier: Apache-2.0
// The detectors by the name for the job argument `detname`. Jsonnet evaluates an import only when it is used.
{
    icarus: import 'icarus.jsonnet',
    microboone: import 'microboone.jsonnet',
    'microboone-data': import 'microboone-data.jsonnet',
    pdhd: import 'pdhd.jsonnet',
    'pdhd-data': import 'pdhd-data.jsonnet',
    pdhd_badAPA1: import 'pdhd_badAPA1.jsonnet',
    pdsp: import 'pdsp.jsonnet',
    pdvd_bottom: import 'pdvd_bottom.jsonnet',
    'pdvd_bottom-data': import 'pdvd_bottom-data.jsonnet',
    pdvd_top: import 'pdvd_top.jsonnet',
    sbnd: import 'sbnd.jsonnet',
}
