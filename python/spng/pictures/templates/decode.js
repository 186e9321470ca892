// SPDX-License-Identifier: Apache-2.0
// The samples of a layer (payload.py has the forms): typed arrays (row, tick) by plane.
"use strict";

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1; // typed arrays have the order of the machine

async function decodePlane(part, ticks) {
  const rows = part.channels.length;
  const Type = part.type === "int16" ? Int16Array : Float32Array;
  const samples = new Type(rows * ticks);
  if (part.form === "none") return samples;
  const buffer = await inflate(part.data);
  if (!little) throw new Error("this machine stores numbers in another order");
  if (part.form === "dense") {
    samples.set(new Type(buffer));
  } else if (part.form === "delta") {
    const bytes = new Uint8Array(buffer), count = rows * ticks;
    for (let row = 0, i = 0; row < rows; row++) {
      for (let tick = 0, sum = 0; tick < ticks; tick++, i++) {
        sum = (sum + bytes[i] + 256 * bytes[count + i]) & 0xffff;
        samples[i] = sum; // wraps to int16
      }
    }
  } else {
    const runs = new Int32Array(buffer, 0, 3 * part.runs), values = new Type(buffer, 12 * part.runs);
    for (let run = 0, position = 0; run < part.runs; run++) {
      const first = runs[3 * run] * ticks + runs[3 * run + 1], length = runs[3 * run + 2] - runs[3 * run + 1];
      samples.set(values.subarray(position, position + length), first);
      position += length;
    }
  }
  return samples;
}

/** Decode a layer once. @return {planes: [{samples, channels, rowOf, baseline, limit}], ticks, start, tick} */
async function decodeLayer(layer) {
  if (layer === null) return null;
  if (!layer.decoded) {
    const planes = [];
    for (const part of layer.planes) {
      planes.push({
        samples: await decodePlane(part, layer.ticks), channels: part.channels, baseline: part.baseline, limit: part.limit,
        rowOf: new Map(part.channels.map((channel, row) => [channel, row])), sum: part.sum,
      });
    }
    layer.decoded = { planes, ticks: layer.ticks, start: layer.start_ns / 1e3, tick: layer.tick_ns / 1e3 };
  }
  return layer.decoded;
}
