// The detectors by the name that the job argument `detname` takes. Imports are evaluated only when asked for.
{
    pdhd: import 'pdhd.jsonnet',
}
