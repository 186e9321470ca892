// SPDX-License-Identifier: Apache-2.0
"use strict";
// The view of the page: event, layers, mode, ranges of channels and time, chosen channel. draw() paints all of it.

const SHORTEST_TICKS = 8, FEWEST_CHANNELS = 4;  // that the view may shrink to

class FrameView {
  constructor(about) {
    this.about = about;
    this.palette = about.palette;
    this.planes = about.planes.map((plane) => {
      const channels = expand(plane.channels);
      return {...plane, channels, positions: new Map(Array.from(channels, (channel, i) => [channel, i])), from: 0, to: channels.length};
    });
    this.index = -1;
    this.layers = [];
    this.mode = "a";
    this.ranges = new Map();
    this.cursor = null;
    this.areMasksShown = true;
    this.hidden = new Set();  // labels of the layers without curve
    this.differences = new Map();
    this.images = new Images(this);
    this.waves = new Waves(this);
    this.listeners = [];
  }

  get event() {
    return this.about.events[this.index];
  }

  // Unpack the layers of an event. The view, layers and mode of the event before stay where they can.
  async load(index) {
    const before = {a: this.a?.label, b: this.b?.label, isFirst: this.index < 0};
    const layers = await Promise.all(this.about.events[index].layers.map((layer) => Layer.unpack(layer)));
    this.index = index;
    this.layers = layers;
    this.differences.clear();
    const charge = layers.find((layer) => layer.role === "charge");
    this.a = this.labelled(before.a) || charge || layers[0];
    this.b = this.labelled(before.b) || layers.find((layer) => layer !== this.a && layer.unit === this.a.unit) || layers.find((layer) => layer !== this.a) || this.a;
    if (this.obstacle(this.mode)) this.mode = "a";
    this.start = Math.min(...layers.map((layer) => layer.start));
    this.end = Math.max(...layers.map((layer) => layer.end));
    this.tick = Math.min(...layers.map((layer) => layer.tick));
    if (before.isFirst) {
      this.choose(this.event.channel);
      this.fit();
    }
    this.showTime(this.from, this.to);
  }

  labelled(label) {
    return this.layers.find((layer) => layer.label === label);
  }

  // Return why a mode cannot be shown, or an empty text.
  obstacle(mode) {
    if (mode === "a") return "";
    if (this.layers.length < 2) return "there is one layer only";
    return mode === "difference" ? Layer.obstacle(this.a, this.b) : "";
  }

  difference() {
    const key = `${this.a.label}\n${this.b.label}`;
    if (!this.differences.has(key)) {
      this.differences.clear();
      this.differences.set(key, Layer.difference(this.a, this.b));
    }
    return this.differences.get(key);
  }

  // Layers of one unit share the range, so that their colours compare.
  range(layer) {
    return this.ranges.get(this.rangeName(layer)) ?? this.automaticRange(layer);
  }

  rangeName(layer) {
    return layer.isDifference ? `difference ${layer.unit}` : layer.unit;
  }

  automaticRange(layer) {
    if (layer.isDifference) return this.range(this.a) / 3;
    const alike = this.layers.filter((other) => other.unit === layer.unit);
    return (alike.find((other) => other.role !== "truth") || alike[0]).range;
  }

  setRange(value) {
    const name = this.rangeName(this.images.layers[0]);
    if (value > 0) this.ranges.set(name, Number(value.toPrecision(4)));
    else this.ranges.delete(name);
    this.draw();
  }

  setMode(mode) {
    if (!this.obstacle(mode)) this.mode = mode;
    this.draw();
  }

  setLayer(which, layer) {
    if (!layer) return;
    this[which] = layer;
    if (this.obstacle(this.mode)) this.mode = "a";
    if (which === "a" && this.mode === "b") this.mode = "a";
    this.draw();
  }

  showCurve(label, isShown) {
    if (isShown) this.hidden.delete(label);
    else this.hidden.add(label);
    this.draw();
  }

  maskColour(position) {
    return this.palette.masks[position % this.palette.masks.length];
  }

  fit() {
    for (const plane of this.planes) this.showChannels(plane, 0, plane.channels.length);
    this.showTime(this.start, this.end);
  }

  showTime(from, to) {
    const length = Math.min(Math.max(to - from, SHORTEST_TICKS * this.tick), this.end - this.start);
    const middle = Math.min(Math.max((from + to) / 2, this.start + length / 2), this.end - length / 2);
    [this.from, this.to] = [middle - length / 2, middle + length / 2];
    this.draw();
  }

  showChannels(plane, from, to) {
    const count = plane.channels.length, length = Math.min(Math.max(to - from, FEWEST_CHANNELS), count);
    const middle = Math.min(Math.max((from + to) / 2, length / 2), count - length / 2);
    [plane.from, plane.to] = [middle - length / 2, middle + length / 2];
    this.draw();
  }

  zoomTime(factor, at = (this.from + this.to) / 2) {
    this.showTime(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  zoomChannels(factor, plane, at = (plane.from + plane.to) / 2) {
    this.showChannels(plane, at - (at - plane.from) * factor, at + (plane.to - at) * factor);
  }

  zoom(factor) {
    this.zoomTime(factor);
    for (const plane of this.planes) this.zoomChannels(factor, plane);
  }

  pan(channels, time) {
    for (const plane of this.planes) {
      const step = (plane.to - plane.from) * channels;
      this.showChannels(plane, plane.from + step, plane.to + step);
    }
    const step = (this.to - this.from) * time;
    this.showTime(this.from + step, this.to + step);
  }

  planeOf(channel) {
    return this.planes.find((plane) => plane.positions.has(channel));
  }

  choose(channel) {
    if (!this.planeOf(channel)) return;
    this.channel = channel;
    this.draw();
  }

  // Choose the next channel of the page in the direction.
  step(direction) {
    const plane = this.planeOf(this.channel), i = this.planes.indexOf(plane);
    const next = plane.channels[plane.positions.get(this.channel) + direction] ?? this.planes[i + direction]?.channels.at(direction > 0 ? 0 : -1);
    if (next !== undefined) this.choose(next);
  }

  // Show the largest sample of the chosen channel and what is around it.
  showPulse() {
    const layer = this.images.layers.find((each) => each.rows.has(this.channel));
    if (!layer) return;
    const samples = new Float32Array(layer.ticks);
    layer.read(this.channel, 0, layer.ticks, samples);
    let peak = 0;
    samples.forEach((value, tick) => { if (Math.abs(value) > Math.abs(samples[peak])) peak = tick; });
    const time = layer.start + (peak + 0.5) * layer.tick, plane = this.planeOf(this.channel), index = plane.positions.get(this.channel);
    this.showChannels(plane, index - 60, index + 61);
    this.showTime(time - 120 * layer.tick, time + 120 * layer.tick);
  }

  // For tests and the console: return a sample as it is in the file.
  sample(label, channel, tick) {
    return this.labelled(label).sample(channel, tick);
  }

  // Return (name, text) of the position under the mouse.
  describe(channel, time) {
    const lines = [["channel", channel], ["time", `${numberText(Number(time.toFixed(2)))} µs`]];
    for (const layer of this.layers) {
      const tick = layer.tickAt(time), value = layer.sample(channel, tick);
      if (value === undefined) continue;
      if (lines.length === 2) lines.push(["tick", tick]);
      const above = value - layer.baseline(channel);
      const about = layer.role === "adc" ? ` (${above < 0 ? "−" : "+"}${numberText(Math.abs(above))})` : "";
      lines.push([layer.label, `${numberText(value)}${about}`]);
    }
    const names = Object.entries(this.event.masks).filter(([, ranges]) =>
      ranges.some(([masked, begin, end]) => masked === channel && begin <= time && time < end)).map(([name]) => name);
    if (names.length) lines.push(["masks", names.join(", ")]);
    return lines;
  }

  // Return the view as the part of an address after #.
  get address() {
    const found = new URLSearchParams({event: this.event.ident, a: this.a.label, b: this.b.label, mode: this.mode, channel: this.channel});
    found.set("time", `${this.from.toFixed(2)},${this.to.toFixed(2)}`);
    this.planes.forEach((plane) => found.set(`plane ${plane.name}`, `${plane.from.toFixed(2)},${plane.to.toFixed(2)}`));
    for (const [name, range] of this.ranges) found.set(`range ${name}`, range);
    for (const label of this.hidden) found.append("hidden", label);
    return found.toString();
  }

  // Show the view of an address, as far as the page has it.
  async go(address) {
    const wanted = new URLSearchParams(address), pair = (name) => (wanted.get(name) || "").split(",").map(Number);
    this.hidden = new Set(wanted.getAll("hidden"));
    const index = this.about.events.findIndex((event) => String(event.ident) === wanted.get("event"));
    await this.load(Math.max(index, 0));
    this.setLayer("a", this.labelled(wanted.get("a")));
    this.setLayer("b", this.labelled(wanted.get("b")));
    if (["a", "b", "overlay", "difference"].includes(wanted.get("mode"))) this.setMode(wanted.get("mode"));
    this.choose(Number(wanted.get("channel")));
    if (pair("time")[1] > pair("time")[0]) this.showTime(...pair("time"));
    for (const plane of this.planes) {
      const [from, to] = pair(`plane ${plane.name}`);
      if (to > from) this.showChannels(plane, from, to);
    }
    for (const [name, value] of wanted) if (name.startsWith("range ") && value > 0) this.ranges.set(name.slice(6), Number(value));
  }

  draw() {
    if (this.pending || this.index < 0) return;
    this.pending = true;
    requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.pending = false;
    this.images.paint();
    this.waves.paint();
    this.listeners.forEach((listener) => listener());
  }
}
