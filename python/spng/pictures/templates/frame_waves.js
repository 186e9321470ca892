// SPDX-License-Identifier: Apache-2.0
"use strict";
// The waveforms of the chosen channel: layers of one unit share a plot, all plots the time axis of the images.

const WAVE_HEIGHT = 150, VALUE_HEIGHT = 25, WAVE_MARGIN = {left: 84, right: 20, top: 8, bottom: 44, gap: 14};

class Waves {
  constructor(state) {
    this.state = state;
    this.canvas = document.getElementById("waves").querySelector("canvas");
  }

  // Return the layers of each plot by their unit.
  get plots() {
    const plots = new Map();
    for (const layer of this.state.layers) plots.set(layer.unit, [...plots.get(layer.unit) || [], layer]);
    return [...plots];
  }

  paint() {
    const plots = this.plots, {state} = this, {channel} = state;
    const height = WAVE_MARGIN.top + WAVE_MARGIN.bottom + plots.length * WAVE_HEIGHT + (plots.length - 1) * WAVE_MARGIN.gap;
    const {context, width} = fitted(this.canvas, this.canvas.parentElement.clientWidth, height);
    this.area = {x: WAVE_MARGIN.left, width: width - WAVE_MARGIN.left - WAVE_MARGIN.right, y: WAVE_MARGIN.top};
    const shaded = state.layers.find((layer) => layer === state.a && layer.role !== "adc") || state.layers.find((layer) => layer.role === "charge");
    plots.forEach(([unit, layers], i) => {
      const area = {...this.area, y: WAVE_MARGIN.top + i * (WAVE_HEIGHT + WAVE_MARGIN.gap), height: WAVE_HEIGHT};
      context.save();
      context.beginPath();
      context.rect(area.x, area.y, area.width, area.height);
      context.clip();
      const shown = layers.filter((layer) => layer.rows.has(channel) && !state.hidden.has(layer.label));
      const lines = shown.map((layer) => [layer, this.line(layer, Math.round(area.width))]);
      const scale = this.scale(area, lines.map(([, line]) => line));
      this.shade(context, area, shaded);
      this.masks(context, area);
      context.fillStyle = LINE;
      context.fillRect(area.x, Math.round(scale.y(0)), area.width, 1);
      lines.sort(([first], [second]) => (second.role === "truth") - (first.role === "truth"));
      for (const [layer, line] of lines) this.draw(context, area, layer, line, scale);
      if (state.cursor !== null) {
        context.fillStyle = "rgba(28, 36, 48, .45)";
        context.fillRect(Math.round(this.x(state.cursor)), area.y, 1, area.height);
      }
      context.restore();
      this.axes(context, area, unit, scale, i === plots.length - 1);
    });
    this.shadedLabel = shaded ? shaded.label : "";
  }

  x(time) {
    return this.area.x + (time - this.state.from) / (this.state.to - this.state.from) * this.area.width;
  }

  time(x) {
    return this.state.from + (x - this.area.x) / this.area.width * (this.state.to - this.state.from);
  }

  // Return {low, high, first, end, samples}: extremes by pixel if a pixel has several ticks, else the samples.
  line(layer, width) {
    const {from, to, channel} = this.state;
    const first = Math.max(0, layer.tickAt(from)), end = Math.min(layer.ticks, layer.tickAt(to) + 1);
    if (end <= first) return {first, end: first, samples: new Float32Array(0)};
    const samples = new Float32Array(end - first);
    layer.read(channel, first, end, samples);
    if (samples.length < 2 * width) return {first, end, samples};
    const low = new Float32Array(width).fill(Infinity), high = new Float32Array(width).fill(-Infinity);
    for (let i = 0; i < samples.length; ++i) {
      const pixel = Math.min(width - 1, Math.max(0, Math.floor(this.x(layer.start + (first + i) * layer.tick) - this.area.x)));
      for (const value of [samples[i], samples[Math.max(0, i - 1)]]) {  // the line begins at the sample before
        if (value < low[pixel]) low[pixel] = value;
        if (value > high[pixel]) high[pixel] = value;
      }
    }
    return {first, end, samples, low, high};
  }

  // Return the function from sample to y that makes all lines fit, with its range.
  scale(area, lines) {
    let low = 0, high = 0;
    for (const {samples} of lines) {
      for (const value of samples) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (high === low) high = low + 1;
    const margin = (high - low) * 0.06;
    [low, high] = [low - margin, high + margin];
    return {low, high, y: (value) => area.y + (high - value) / (high - low) * area.height};
  }

  draw(context, area, layer, line, {y}) {
    const isTruth = layer.role === "truth";
    context.beginPath();
    if (line.low) {
      line.low.forEach((low, pixel) => {
        if (low === Infinity) return;
        const top = y(line.high[pixel]), bottom = y(low);
        context.rect(area.x + pixel, top - 0.5, 1, Math.max(1, bottom - top + 1));
      });
      context.fillStyle = layer.colour;
      context.globalAlpha = isTruth ? 0.45 : 0.9;
      context.fill();
    } else {
      line.samples.forEach((value, i) => {
        const left = this.x(layer.start + (line.first + i) * layer.tick), right = this.x(layer.start + (line.first + i + 1) * layer.tick);
        if (i) context.lineTo(left, y(value));
        else context.moveTo(left, y(value));
        context.lineTo(right, y(value));
      });
      context.strokeStyle = layer.colour;
      context.lineWidth = isTruth ? 1 : 1.5;
      context.stroke();
      if (isTruth && line.samples.length) {
        context.lineTo(this.x(layer.start + line.end * layer.tick), y(0));
        context.lineTo(this.x(layer.start + line.first * layer.tick), y(0));
        context.fillStyle = layer.colour;
        context.globalAlpha = 0.22;
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  shade(context, area, layer) {
    const {from, to, channel, palette} = this.state;
    context.fillStyle = "#fff";
    context.fillRect(area.x, area.y, area.width, area.height);
    if (!layer) return;
    context.fillStyle = palette.roi;
    for (const [begin, end] of layer.rois(channel, Math.max(0, layer.tickAt(from)), Math.min(layer.ticks, layer.tickAt(to) + 1))) {
      const left = this.x(layer.start + begin * layer.tick);
      context.fillRect(left, area.y, Math.max(1, this.x(layer.start + end * layer.tick) - left), area.height);
    }
  }

  masks(context, area) {
    const {state} = this;
    if (!state.areMasksShown) return;
    Object.values(state.event.masks).forEach((ranges, i) => {
      context.fillStyle = state.maskColour(i);
      context.globalAlpha = 0.3;
      for (const [channel, begin, end] of ranges) {
        if (channel === state.channel) context.fillRect(this.x(begin), area.y, Math.max(1, this.x(end) - this.x(begin)), area.height);
      }
      context.globalAlpha = 1;
    });
  }

  axes(context, area, unit, scale, isLast) {
    const bottom = area.y + area.height;
    context.strokeStyle = LINE;
    context.lineWidth = 1;
    context.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
    for (const value of roundValues(scale.low, scale.high, area.height / VALUE_HEIGHT)) {
      context.fillStyle = LINE;
      context.fillRect(area.x - 6, scale.y(value), 5, 1);
      text(context, numberText(value), area.x - 9, scale.y(value), "right");
    }
    uprightText(context, unit, 14, area.y + area.height / 2);
    const isFree = spaces(context, area);
    for (const time of roundValues(this.state.from, this.state.to, area.width / 90)) {
      context.fillStyle = LINE;
      context.fillRect(this.x(time), bottom + 1, 1, 5);
      if (isLast && isFree(numberText(time), this.x(time))) text(context, numberText(time), this.x(time), bottom + 15);
    }
    if (isLast) text(context, "time [µs]", area.x + area.width / 2, bottom + 33, "center", SOFT);
  }
}
