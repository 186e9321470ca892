// SPDX-License-Identifier: Apache-2.0
// The waveforms of one channel: ADC above, charge with its regions of interest (ROIs) below, over the time of the pictures.
"use strict";

const lineColours = ["#b5179e", "#222222", "#1d4e89", "#e07b00", "#1b6e3c", "#8c6d31"];

class Waveform {
  constructor(canvas) { this.canvas = canvas; }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** lines: [{label, kind, colour, layer, samples (one row), baseline}]; rois: the line that shades, or null. */
  draw(times, channel, lines, rois) {
    const { context } = this;
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    if (channel === null || lines.length === 0) {
      context.fillStyle = "#5f6b7a";
      context.textAlign = "center";
      context.fillText("click a channel in a picture", this.width / 2, this.height / 2);
      return;
    }
    const upper = lines.filter((line) => line.kind === "adc"), lower = lines.filter((line) => line.kind !== "adc");
    const parts = [[upper, "ADC counts"], [lower, "electrons per tick"]].filter(([some]) => some.length > 0);
    const gap = 14, height = (this.height - 8 - 38 - gap * (parts.length - 1)) / parts.length;
    parts.forEach(([some, unit], i) => {
      const box = { x: 78, y: 8 + i * (height + gap), w: this.width - 78 - 12, h: height };
      this.drawPart(box, times, some, unit, rois, i === parts.length - 1);
    });
    context.fillStyle = "#1c2430";
    context.textAlign = "left";
    context.textBaseline = "top";
    context.font = "600 13px system-ui, sans-serif";
    context.fillText(`channel ${channel}`, 86, 12);
  }

  drawPart(box, times, lines, unit, rois, isLast) {
    const { context } = this;
    const x = (time) => box.x + ((time - times.t0) / (times.t1 - times.t0)) * box.w;
    const drawn = lines.map((line) => ({ line, points: this.envelope(line, times, box.w) }));
    let low = 0, high = 0;
    for (const { points } of drawn) {
      for (const [, least, most] of points) {
        low = Math.min(low, least);
        high = Math.max(high, most);
      }
    }
    const room = 0.08 * (high - low || 1);
    low -= room;
    high += 2 * room;
    const y = (value) => box.y + box.h - ((value - low) / (high - low)) * box.h;
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.w, box.h);
    context.clip();
    if (rois) this.shade(rois, times, x, box);
    context.strokeStyle = "#d5dae0";
    context.beginPath(); context.moveTo(box.x, y(0)); context.lineTo(box.x + box.w, y(0)); context.stroke();
    for (const { line, points } of drawn) {
      context.strokeStyle = line.colour;
      context.lineWidth = 1.3;
      context.beginPath();
      points.forEach(([time, least, most, width, first, last], i) => {
        // A step for single samples, a vertical line for several of one pixel.
        if (i === 0) context.moveTo(x(time), y(first)); else context.lineTo(x(time), y(first));
        if (least !== most) { context.lineTo(x(time), y(least)); context.lineTo(x(time), y(most)); }
        context.lineTo(x(time + width), y(last));
      });
      context.stroke();
    }
    context.restore();
    context.lineWidth = 1;
    context.strokeStyle = "#5f6b7a";
    context.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
    this.drawAxes(box, times, x, y, low, high, unit, isLast);
  }

  drawAxes(box, times, x, y, low, high, unit, isLast) {
    const { context } = this;
    context.fillStyle = "#1c2430";
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of steps(low, high, Math.max(2, box.h / 40)).found) {
      context.fillText((value || 0).toLocaleString("en"), box.x - 6, y(value));
      context.beginPath(); context.moveTo(box.x - 4, y(value)); context.lineTo(box.x, y(value)); context.stroke();
    }
    context.save();
    context.translate(12, box.y + box.h / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(unit, 0, 0);
    context.restore();
    if (!isLast) return;
    context.textAlign = "center";
    context.textBaseline = "top";
    const across = steps(times.t0, times.t1, Math.max(2, box.w / 90));
    for (const time of across.found) {
      context.beginPath(); context.moveTo(x(time), box.y + box.h); context.lineTo(x(time), box.y + box.h + 4); context.stroke();
      context.fillText(time.toFixed(across.digits), x(time), box.y + box.h + 5);
    }
    context.fillText("time [µs]", box.x + box.w / 2, box.y + box.h + 20);
  }

  /** Return [time, least, most, width, first, last] for each sample, or for each pixel where samples are narrower. */
  envelope(line, times, pixels) {
    const { start, tick, ticks } = line.layer;
    const t0 = Math.max(0, Math.floor((times.t0 - start) / tick)), t1 = Math.min(ticks, Math.ceil((times.t1 - start) / tick) + 1);
    const group = Math.max(1, Math.floor((t1 - t0) / (2 * pixels))), points = [];
    for (let from = t0; from < t1; from += group) {
      let least = Infinity, most = -Infinity;
      const to = Math.min(t1, from + group);
      for (let i = from; i < to; i++) {
        const value = line.samples[i] - line.baseline;
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
      points.push([start + from * tick, least, most, (to - from) * tick, line.samples[from] - line.baseline, line.samples[to - 1] - line.baseline]);
    }
    return points;
  }

  shade(line, times, x, box) {
    const { start, tick, ticks } = line.layer;
    this.context.fillStyle = "#ffe9b0";
    for (let i = 0; i < ticks; i++) {
      if (line.samples[i] === 0) continue;
      let end = i;
      while (end < ticks && line.samples[end] !== 0) end++;
      const left = x(start + i * tick), right = x(start + end * tick);
      if (right > box.x && left < box.x + box.w) this.context.fillRect(left, box.y, Math.max(1, right - left), box.h);
      i = end;
    }
  }
}
