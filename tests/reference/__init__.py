# SPDX-License-Identifier: Apache-2.0
"""Independent NumPy float64 reference of the whole signal-processing chain.

Every step is a pure function on arrays.  Axes are (..., channel, tick) throughout; the last axis is time.
Units: charge in electrons, time in microseconds, frequency in MHz, length in millimetres, amplitude in ADC
counts.  Nothing here shares code with the C++ library: the two are compared with each other in the tests.
"""
