// The detectors by the name that the job argument `detname` takes. Imports are evaluated only when asked for.
{
    microboone: import 'microboone.jsonnet',
    pdhd: import 'pdhd.jsonnet',
    pdsp: import 'pdsp.jsonnet',
}
