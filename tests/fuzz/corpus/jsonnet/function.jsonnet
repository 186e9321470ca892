// SPDX-License-Identifier: Apache-2.0
// A job with an argument.
local node(type, data={}) = { type: type, data: data };
function(input='frames.npz', output='o.npz')
    [node('SPNGContext', { device: 'cpu' }), node('FrameFileSource', { inname: input })]
