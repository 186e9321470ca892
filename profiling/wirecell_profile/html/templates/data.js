// SPDX-License-Identifier: Apache-2.0
"use strict";
// Unpacks the data of payload.py, formats times and amounts, and tells which colours are dark.

async function unpack(text) {
  const buffer = await unpacked(text);
  const length = new DataView(buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const column = (Type, count) => {
    const values = new Type(buffer, at, count);
    at += values.byteLength;
    return values;
  };
  const n = data.events;
  data.start = column(Float64Array, n);
  data.duration = column(Float64Array, n);
  data.name = column(Uint32Array, n);
  data.note = column(Uint32Array, n);
  data.event = column(Int32Array, n);
  data.link = column(Int32Array, n);
  data.colour = column(Uint16Array, n);
  at += (8 - at % 8) % 8;
  data.busy = data.duration.slice();
  data.count = new Uint32Array(n).fill(1);
  const busy = column(Float64Array, data.merged), index = column(Uint32Array, data.merged), count = column(Uint32Array, data.merged);
  index.forEach((i, k) => { data.busy[i] = busy[k]; data.count[i] = count[k]; });
  data.time = column(Float64Array, data.points);
  data.value = column(Float64Array, data.points);
  return data;
}

function timeText(ns, digits = 4) {
  const size = Math.abs(ns);
  const [unit, scale] = size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  return `${Number((ns / scale).toPrecision(digits))} ${unit}`;
}

function amountText(value, unit) {
  if (unit === "B" || unit === "Hz") {
    const size = Math.abs(value);
    const [prefix, scale] = size >= 1e9 ? ["G", 1e9] : size >= 1e6 ? ["M", 1e6] : size >= 1e3 ? ["k", 1e3] : ["", 1];
    return `${Number((value / scale).toPrecision(4))} ${prefix}${unit}`;
  }
  return `${Number(value.toPrecision(4))}${unit ? " " + unit : ""}`;
}

const darkness = new Map();

function isDark(colour) {
  if (!darkness.has(colour)) {
    const [red, green, blue] = rgb(colour);
    darkness.set(colour, 0.299 * red + 0.587 * green + 0.114 * blue < 150);
  }
  return darkness.get(colour);
}
