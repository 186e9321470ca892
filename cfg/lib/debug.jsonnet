// SPDX-License-Identifier: Apache-2.0
// Print a value to stderr, after a text, and return it. In a file of its own: std.trace prints its line, so this file is not joined with others.
function(obj, msg) std.trace(msg + std.toString(obj), obj)
