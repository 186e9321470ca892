// SPDX-License-Identifier: Apache-2.0
local base = { a: 1, b:: $.a + 1, c: self.b, assert self.a > 0 : 'a' };
[(base { a: 2, d+: { e: super.c } }) + { d+: {} }, |||
    text
|||, std.native('spng_batches_anodes')('cpu'), if std.length('ab') == 2 then [1.5e3, -0.0] else error 'no']
