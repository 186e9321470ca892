// SPDX-License-Identifier: Apache-2.0
// One plane as a picture: channel to the right, time upwards. A pixel shows the sample of its cells that is farthest from 0,
// so that thin tracks stay visible.
"use strict";

const margin = { left: 58, right: 10, top: 8, bottom: 36 };
const diverging = [[33, 72, 144], [110, 160, 210], [255, 255, 255], [232, 140, 110], [165, 20, 45]];
const charge = [[255, 255, 255], [249, 166, 85], [217, 55, 110], [106, 27, 154], [26, 0, 51]];
const overColours = [[200, 20, 110], [0, 140, 130]]; // of the first and the second layer
const maskColours = { bad: "#7f7f7f", missing: "#7f7f7f", nan: "#b3261e", saturated: "#c98a00", noisy: "#8e44ad", dead: "#5f6b7a" };

/** Return the colour table of 256 entries for values from low to high. */
function table(stops) {
  const colours = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at)), f = at - k;
    for (let j = 0; j < 3; j++) colours[3 * i + j] = stops[k][j] + f * (stops[k + 1][j] - stops[k][j]);
  }
  return colours;
}
const tables = { adc: table(diverging), charge: table(charge), mask: table([[255, 255, 255], [60, 60, 80]]), difference: table(diverging) };

/** Return {values, nx, ny, c0, c1, t0, t1}: the cells of a layer in a view, pooled to at most (width, height) pixels.
 *  other: a layer to subtract, or null. Ticks are those of the layer; null if it has no cell there. */
function pool(layer, plane, view, width, height, other) {
  const own = layer.planes[plane], ids = own.channels;
  if (ids.length === 0) return null;
  const c0 = Math.max(ids[0], Math.floor(view.c0 + 0.5)), c1 = Math.min(ids[ids.length - 1] + 1, Math.ceil(view.c1 + 0.5));
  const t0 = Math.max(0, Math.floor((view.t0 - layer.start) / layer.tick)), t1 = Math.min(layer.ticks, Math.ceil((view.t1 - layer.start) / layer.tick));
  if (c1 <= c0 || t1 <= t0) return null;
  const nx = Math.max(1, Math.min(width, c1 - c0)), ny = Math.max(1, Math.min(height, t1 - t0));
  const values = new Float32Array(nx * ny), binOf = new Int32Array(t1 - t0);
  for (let tick = t0; tick < t1; tick++) binOf[tick - t0] = Math.floor(((tick - t0) * ny) / (t1 - t0)) * nx;
  const theirs = other && other.planes[plane];
  for (let channel = c0; channel < c1; channel++) {
    const row = own.rowOf.get(channel);
    if (row === undefined) continue;
    const x = Math.floor(((channel - c0) * nx) / (c1 - c0)), offset = row * layer.ticks;
    const base = own.baseline ? own.baseline[row] : 0, samples = own.samples;
    const otherRow = theirs ? theirs.rowOf.get(channel) : undefined;
    if (theirs && otherRow === undefined) continue;
    const otherBase = theirs && theirs.baseline ? theirs.baseline[otherRow] : 0;
    for (let tick = t0; tick < t1; tick++) {
      let value = samples[offset + tick] - base;
      if (theirs) {
        const at = Math.round((layer.start + tick * layer.tick - other.start) / other.tick);
        value -= at >= 0 && at < other.ticks ? theirs.samples[otherRow * other.ticks + at] - otherBase : 0;
      }
      const i = binOf[tick - t0] + x;
      if (value > values[i] ? value > -values[i] : -value > Math.abs(values[i])) values[i] = value;
    }
  }
  return { values, nx, ny, c0, c1, t0, t1 };
}

/** Return steps of an axis: about `count` round numbers between low and high. */
function steps(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step || 0); // no -0
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

class Panel {
  constructor(index, plane, host) {
    this.index = index;
    this.plane = plane;
    const figure = document.createElement("figure");
    figure.innerHTML = "<figcaption></figcaption><canvas tabindex=0 role=img></canvas>";
    figure.firstChild.textContent = `${plane.name === "all" ? "all channels" : plane.name + " plane"}`;
    this.canvas = figure.lastChild;
    this.canvas.setAttribute("aria-label", `picture of ${plane.name}`);
    host.append(figure);
    this.whole = { c0: plane.first - 0.5, c1: plane.last + 0.5 };
    this.view = { ...this.whole };
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ratio = ratio;
  }

  box() {
    return { x: margin.left, y: margin.top, w: this.width - margin.left - margin.right, h: this.height - margin.top - margin.bottom };
  }
  x(channel) { const box = this.box(); return box.x + ((channel - this.view.c0) / (this.view.c1 - this.view.c0)) * box.w; }
  y(time, times) { const box = this.box(); return box.y + box.h - ((time - times.t0) / (times.t1 - times.t0)) * box.h; }
  channelAt(x) { const box = this.box(); return this.view.c0 + ((x - box.x) / box.w) * (this.view.c1 - this.view.c0); }
  timeAt(y, times) { const box = this.box(); return times.t0 + ((box.y + box.h - y) / box.h) * (times.t1 - times.t0); }

  /** Draw layer a; mode: one, over (with b), minus (a - b). gain: of the colours. */
  draw(times, a, b, mode, kinds, gain, masks, chosen) {
    const { context } = this, box = this.box();
    context.clearRect(0, 0, this.width, this.height);
    context.fillStyle = "#fff";
    context.fillRect(box.x, box.y, box.w, box.h);
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.w, box.h);
    context.clip();
    const view = { ...this.view, ...times };
    const pixels = [Math.round(box.w * this.ratio), Math.round(box.h * this.ratio)];
    context.imageSmoothingEnabled = false;
    if (mode === "over" && a && b) {
      context.globalCompositeOperation = "multiply";
      [a, b].forEach((layer, i) => this.paint(pool(layer, this.index, view, ...pixels, null), layer, times,
        table([[255, 255, 255], overColours[i]]), 0, layer.planes[this.index].limit * gain));
      context.globalCompositeOperation = "source-over";
    } else if (mode === "minus" && a && b) {
      this.paint(pool(a, this.index, view, ...pixels, b), a, times, tables.difference, -1, a.planes[this.index].limit * gain);
    } else if (a) {
      this.paint(pool(a, this.index, view, ...pixels, null), a, times, tables[kinds[0]], kinds[0] === "adc" ? -1 : 0, a.planes[this.index].limit * gain);
    }
    this.drawMasks(times, a, masks);
    if (chosen !== null && chosen >= this.view.c0 && chosen <= this.view.c1) {
      context.strokeStyle = "rgba(31, 78, 156, .8)";
      context.setLineDash([4, 3]);
      context.strokeRect(this.x(chosen - 0.5), box.y - 2, Math.max(1, this.x(chosen + 0.5) - this.x(chosen - 0.5)), box.h + 4);
      context.setLineDash([]);
    }
    context.restore();
    this.drawAxes(times);
  }

  paint(cells, layer, times, colours, low, limit) {
    if (!cells) return;
    const image = new ImageData(cells.nx, cells.ny), scale = 255 / (limit * (1 - low));
    for (let y = 0; y < cells.ny; y++) {
      for (let x = 0; x < cells.nx; x++) {
        const index = Math.max(0, Math.min(255, Math.round((cells.values[y * cells.nx + x] - low * limit) * scale)));
        const at = 4 * ((cells.ny - 1 - y) * cells.nx + x);
        image.data[at] = colours[3 * index];
        image.data[at + 1] = colours[3 * index + 1];
        image.data[at + 2] = colours[3 * index + 2];
        image.data[at + 3] = 255;
      }
    }
    const buffer = new OffscreenCanvas(cells.nx, cells.ny);
    buffer.getContext("2d").putImageData(image, 0, 0);
    const left = this.x(cells.c0 - 0.5), right = this.x(cells.c1 - 0.5);
    const bottom = this.y(layer.start + cells.t0 * layer.tick, times), top = this.y(layer.start + cells.t1 * layer.tick, times);
    this.context.drawImage(buffer, left, top, right - left, bottom - top);
  }

  drawMasks(times, layer, masks) {
    if (!layer) return;
    for (const [name, ranges] of Object.entries(masks)) {
      this.context.fillStyle = maskColours[name] || "#17a589";
      this.context.globalAlpha = 0.35;
      for (const [channel, begin, end] of ranges) {
        if (channel < this.view.c0 || channel > this.view.c1) continue;
        const top = this.y(layer.start + end * layer.tick, times), bottom = this.y(layer.start + begin * layer.tick, times);
        this.context.fillRect(this.x(channel - 0.5), top, Math.max(1, this.x(channel + 0.5) - this.x(channel - 0.5)), Math.max(1, bottom - top));
      }
    }
    this.context.globalAlpha = 1;
  }

  drawAxes(times) {
    const { context } = this, box = this.box();
    context.strokeStyle = "#5f6b7a";
    context.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
    context.fillStyle = "#1c2430";
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "top";
    const across = steps(this.view.c0, this.view.c1, Math.max(2, box.w / 90));
    for (const channel of across.found) {
      if (!Number.isInteger(channel)) continue;
      const x = this.x(channel);
      context.beginPath(); context.moveTo(x, box.y + box.h); context.lineTo(x, box.y + box.h + 4); context.stroke();
      context.fillText(channel, x, box.y + box.h + 5);
    }
    context.fillText("channel", box.x + box.w / 2, box.y + box.h + 20);
    context.textAlign = "right";
    context.textBaseline = "middle";
    const up = steps(times.t0, times.t1, Math.max(2, box.h / 60));
    for (const time of up.found) {
      const y = this.y(time, times);
      context.beginPath(); context.moveTo(box.x - 4, y); context.lineTo(box.x, y); context.stroke();
      context.fillText(time.toFixed(up.digits), box.x - 6, y);
    }
    context.save();
    context.translate(12, box.y + box.h / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("time [µs]", 0, 0);
    context.restore();
  }
}
