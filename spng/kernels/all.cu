// All kernels as one unit: one compilation and one image for each kind of device.

#include "spng/kernels/baseline.cu"
