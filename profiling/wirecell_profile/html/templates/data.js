// SPDX-License-Identifier: Apache-2.0
"use strict";
// Unpacks the data of payload.py, formats times and amounts, and tells which colours are dark.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
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
  if (unit === "B") {
    const size = Math.abs(value);
    const [name, scale] = size >= 1e9 ? ["GB", 1e9] : size >= 1e6 ? ["MB", 1e6] : size >= 1e3 ? ["kB", 1e3] : ["B", 1];
    return `${Number((value / scale).toPrecision(4))} ${name}`;
  }
  return `${Number(value.toPrecision(4))}${unit ? " " + unit : ""}`;
}

const darkness = new Map();

function isDark(colour) {
  if (!darkness.has(colour)) {
    const value = parseInt(colour.slice(1), 16);
    darkness.set(colour, 0.299 * (value >> 16) + 0.587 * (value >> 8 & 255) + 0.114 * (value & 255) < 150);
  }
  return darkness.get(colour);
}
