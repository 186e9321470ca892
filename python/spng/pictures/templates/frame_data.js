// SPDX-License-Identifier: Apache-2.0
"use strict";
// Unpacks the blocks of payload.py. A layer gives the samples of a channel; its coarse samples make large images fast.

const COARSE = 8;  // ticks of a coarse sample: the sample of largest magnitude among them

function expand(ranges) {
  const numbers = new Int32Array(ranges.reduce((sum, [, count]) => sum + count, 0));
  let at = 0;
  for (const [first, count] of ranges) for (let i = 0; i < count; ++i) numbers[at++] = first + i;
  return numbers;
}

function joinFloats(buffer, offset, count) {
  const bytes = new Uint8Array(buffer, offset, 4 * count), codes = new Uint32Array(count);
  for (let i = 0; i < count; ++i) {
    codes[i] = bytes[i] | bytes[count + i] << 8 | bytes[2 * count + i] << 16 | bytes[3 * count + i] << 24;
  }
  return new Float32Array(codes.buffer);
}

// Samples of all ticks, as integers or floats.
class DenseSamples {
  constructor(values, ticks) {
    this.values = values;
    this.ticks = ticks;
  }

  static integers(buffer, offset, rows, ticks) {
    const count = rows * ticks, bytes = new Uint8Array(buffer, offset, 2 * count), values = new Int16Array(count);
    for (let row = 0, i = 0; row < rows; ++row) {
      for (let tick = 0, value = 0; tick < ticks; ++tick, ++i) {
        const code = bytes[i] | bytes[count + i] << 8;
        value += code >> 1 ^ -(code & 1);
        values[i] = value;
      }
    }
    return new DenseSamples(values, ticks);
  }

  // Write the samples [first, end) of a row to `out`.
  read(row, first, end, out) {
    out.set(this.values.subarray(row * this.ticks + first, row * this.ticks + end));
  }

  at(row, tick) {
    return this.values[row * this.ticks + tick];
  }
}

// Runs of samples that are not 0.
class RunSamples {
  constructor(rows, row, begin, length, values) {
    this.begin = begin;
    this.length = length;
    this.values = values;
    this.first = new Int32Array(rows + 1);  // first run of each row
    for (const each of row) ++this.first[each + 1];
    for (let i = 0; i < rows; ++i) this.first[i + 1] += this.first[i];
    this.offset = new Int32Array(row.length);
    for (let i = 1; i < row.length; ++i) this.offset[i] = this.offset[i - 1] + length[i - 1];
  }

  read(row, first, end, out) {
    out.fill(0, 0, end - first);
    for (let run = this.first[row]; run < this.first[row + 1] && this.begin[run] < end; ++run) {
      const from = Math.max(first, this.begin[run]), to = Math.min(end, this.begin[run] + this.length[run]);
      for (let tick = from; tick < to; ++tick) out[tick - first] = this.values[this.offset[run] + tick - this.begin[run]];
    }
  }

  at(row, tick) {
    const out = new Float32Array(1);
    this.read(row, tick, tick + 1, out);
    return out[0];
  }
}

class Layer {
  // `rows`: channel -> row
  constructor(about, samples, rows, baselines) {
    Object.assign(this, about);
    this.samples = samples;
    this.rows = rows;
    this.baselines = baselines;
    this.end = this.start + this.ticks * this.tick;
    this.bins = Math.ceil(this.ticks / COARSE);
    this.coarse = this.makeCoarse();
  }

  static async unpack(about) {
    const buffer = await unpacked(document.getElementById(about.block).textContent);
    const channels = expand(about.channels), n = channels.length;
    const baselines = new Float32Array(buffer, 0, n);
    let samples;
    if (about.form === "int16") samples = DenseSamples.integers(buffer, 4 * n, n, about.ticks);
    else if (about.form === "float32") samples = new DenseSamples(joinFloats(buffer, 4 * n, n * about.ticks), about.ticks);
    else {
      const column = (i) => new Int32Array(buffer, 4 * (n + i * about.runs), about.runs);
      const values = 4 * (n + 3 * about.runs);
      samples = new RunSamples(n, column(0), column(1), column(2), joinFloats(buffer, values, (buffer.byteLength - values) / 4));
    }
    return new Layer(about, samples, new Map(Array.from(channels, (channel, row) => [channel, row])), baselines);
  }

  // Return A - B. The ticks of B must be those of A, shifted by a whole number.
  static difference(a, b) {
    const shift = Math.round((a.start - b.start) / a.tick);
    const first = Math.max(0, -shift), end = Math.min(a.ticks, b.ticks - shift);
    const channels = [...a.rows.keys()].filter((channel) => b.rows.has(channel));
    const values = new Float32Array(channels.length * a.ticks), other = new Float32Array(a.ticks);
    channels.forEach((channel, row) => {
      const mine = values.subarray(row * a.ticks, (row + 1) * a.ticks);
      if (end <= first) return;
      a.read(channel, first, end, mine.subarray(first, end));
      b.read(channel, first + shift, end + shift, other);
      for (let tick = first; tick < end; ++tick) mine[tick] -= other[tick - first];
    });
    const about = {label: `${a.label} − ${b.label}`, role: a.role, unit: a.unit, ticks: a.ticks, start: a.start, tick: a.tick,
                   isDifference: true};
    return new Layer(about, new DenseSamples(values, a.ticks), new Map(channels.map((channel, row) => [channel, row])),
                     new Float32Array(channels.length));
  }

  // Return why A - B cannot be made, or an empty text.
  static obstacle(a, b) {
    if (a.unit !== b.unit) return "A and B have different units";
    const shift = (a.start - b.start) / a.tick;
    if (Math.abs(a.tick - b.tick) > 1e-9 * a.tick || Math.abs(shift - Math.round(shift)) > 1e-3) return "A and B have different ticks";
    return "";
  }

  makeCoarse() {
    const coarse = new Float32Array(this.rows.size * this.bins), line = new Float32Array(this.ticks);
    for (const [channel, row] of this.rows) {
      this.read(channel, 0, this.ticks, line);
      for (let bin = 0, tick = 0; bin < this.bins; ++bin) {
        let extreme = 0;
        for (const end = Math.min(this.ticks, tick + COARSE); tick < end; ++tick) {
          if (Math.abs(line[tick]) > Math.abs(extreme)) extreme = line[tick];
        }
        coarse[row * this.bins + bin] = extreme;
      }
    }
    return coarse;
  }

  // Write the samples [first, end) of a channel minus its baseline to `out`. The channel must be in the layer.
  read(channel, first, end, out) {
    const row = this.rows.get(channel), baseline = this.baselines[row];
    this.samples.read(row, first, end, out);
    if (baseline) for (let i = 0; i < end - first; ++i) out[i] -= baseline;
  }

  // Return the sample as it is in the file, undefined outside of the layer.
  sample(channel, tick) {
    const row = this.rows.get(channel);
    return row === undefined || tick < 0 || tick >= this.ticks ? undefined : this.samples.at(row, tick);
  }

  baseline(channel) {
    return this.baselines[this.rows.get(channel)] ?? 0;
  }

  tickAt(time) {
    return Math.floor((time - this.start) / this.tick + 1e-9);
  }

  // Return the sample of largest magnitude in each of `out.length` equal parts of a time range; NaN outside of the layer.
  pool(channel, from, to, out) {
    out.fill(NaN);
    if (!this.rows.has(channel)) return;
    const n = out.length, perPixel = (to - from) / this.tick / n, zero = (from - this.start) / this.tick;
    const first = Math.max(0, Math.floor(zero)), end = Math.min(this.ticks, Math.ceil(zero + perPixel * n));
    if (end <= first) return;
    const isCoarse = perPixel >= COARSE, step = isCoarse ? COARSE : 1;
    const begin = Math.floor(first / step), count = Math.ceil(end / step) - begin;
    let line;
    if (isCoarse) {
      const offset = this.rows.get(channel) * this.bins + begin;
      line = this.coarse.subarray(offset, offset + count);
    } else {
      line = Layer.line.length < count ? Layer.line = new Float32Array(count) : Layer.line;
      this.read(channel, first, end, line);
    }
    // A coarse sample belongs to the pixel of its middle.
    const scale = step / perPixel, shift = (isCoarse ? scale / 2 : 0) - zero / perPixel;
    for (let i = 0; i < count; ++i) {
      const low = Math.max(0, Math.floor((begin + i) * scale + shift));
      const high = Math.min(n, Math.max(low + 1, Math.floor((begin + i + 1) * scale + shift)));
      const value = line[i];
      for (let pixel = low; pixel < high; ++pixel) {
        if (!(Math.abs(value) <= Math.abs(out[pixel]))) out[pixel] = value;
      }
    }
  }

  // Return [begin, end) of the ranges of ticks in [first, end) whose samples are not 0.
  rois(channel, first, end) {
    const found = [];
    if (!this.rows.has(channel) || end <= first) return found;
    const line = new Float32Array(end - first);
    this.read(channel, first, end, line);
    for (let i = 0; i < line.length; ++i) {
      if (line[i] === 0) continue;
      const begin = i;
      while (i < line.length && line[i] !== 0) ++i;
      found.push([first + begin, first + i]);
    }
    return found;
  }
}
Layer.line = new Float32Array(0);
