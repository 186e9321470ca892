// SPDX-License-Identifier: Apache-2.0
"use strict";
// The images of the planes: channel by time on one canvas, with a common time axis and the colour bar.

const IMAGE_HEIGHT = 470, MARGIN = {left: 66, top: 26, bottom: 44, gap: 18, bar: 92};

class Images {
  constructor(state) {
    this.state = state;
    this.box = document.getElementById("images");
    this.canvas = this.box.querySelector("canvas");
    const palette = state.palette;
    this.tables = {adc: colourTable(palette, true), charge: colourTable(palette, false)};
    this.shades = palette.overlay.map((colour) => Array.from({length: 256}, (_, i) => between(["#ffffff", colour], i / 255)));
    this.blends = new Uint32Array(256 * 256);  // shade of A, shade of B: each takes away the complement of its colour
    this.blends.forEach((_, i) => { this.blends[i] = packed(this.shades[0][i >> 8].map((value, k) => value * this.shades[1][i & 255][k] / 255)); });
    this.drawn = new Map();  // plane -> {key, image}: the mouse moves more often than the view changes
  }

  get height() {
    return Math.min(IMAGE_HEIGHT, Math.max(300, window.innerHeight * 0.52));
  }

  // Return the layers to draw: one, or two for the overlay.
  get layers() {
    const {a, b, mode} = this.state;
    return mode === "b" ? [b] : mode === "overlay" ? [a, b] : mode === "difference" ? [this.state.difference()] : [a];
  }

  layout(width) {
    const right = MARGIN.bar * this.layers.length + 6, count = this.state.planes.length;
    const each = (width - MARGIN.left - right - MARGIN.gap * (count - 1)) / count;
    const height = this.height - MARGIN.top - MARGIN.bottom;
    this.areas = this.state.planes.map((plane, i) => ({plane, x: MARGIN.left + i * (each + MARGIN.gap), y: MARGIN.top, width: each, height}));
    this.bars = this.layers.map((layer, i) => ({layer, x: width - right + 12 + i * MARGIN.bar, y: MARGIN.top, width: 14, height}));
  }

  paint() {
    const screen = fitted(this.canvas, this.box.clientWidth, this.height);
    this.layout(screen.width);
    for (const area of this.areas) {
      this.image(screen, area);
      this.masks(screen.context, area);
      this.frame(screen.context, area);
    }
    this.timeAxis(screen.context);
    this.bars.forEach((bar, i) => this.bar(screen.context, bar, i));
  }

  // Return the samples of the image, [column * height + row from the top]; NaN where the layer has none.
  pixels(layer, plane, width, height) {
    const pixels = new Float32Array(width * height).fill(NaN), line = new Float32Array(height);
    const scale = width / (plane.to - plane.from);
    for (let i = Math.max(0, Math.floor(plane.from)); i < Math.min(plane.channels.length, Math.ceil(plane.to)); ++i) {
      const left = Math.max(0, Math.floor((i - plane.from) * scale));
      const right = Math.min(width, Math.max(left + 1, Math.floor((i + 1 - plane.from) * scale)));
      layer.pool(plane.channels[i], this.state.from, this.state.to, line);
      for (let x = left; x < right; ++x) {
        for (let y = 0, at = (x + 1) * height - 1; y < height; ++y, --at) {
          if (!(Math.abs(line[y]) <= Math.abs(pixels[at])) && line[y] === line[y]) pixels[at] = line[y];
        }
      }
    }
    return pixels;
  }

  image({context, ratio}, area) {
    const width = Math.max(1, Math.round(area.width * ratio)), height = Math.max(1, Math.round(area.height * ratio));
    const {plane} = area, {from, to, index} = this.state;
    const key = JSON.stringify([width, height, index, from, to, plane.from, plane.to, this.layers.map((layer) => [layer.label, this.state.range(layer)])]);
    if (this.drawn.get(plane)?.key !== key) this.drawn.set(plane, {key, image: this.makeImage(plane, width, height)});
    context.putImageData(this.drawn.get(plane).image, Math.round(area.x * ratio), Math.round(area.y * ratio));
  }

  makeImage(plane, width, height) {
    const image = new ImageData(width, height), colours = new Uint32Array(image.data.buffer);
    const parts = this.layers.map((layer) => this.pixels(layer, plane, width, height));
    const ranges = this.layers.map((layer) => this.state.range(layer));
    const table = this.tables[this.isSigned(this.layers[0]) ? "adc" : "charge"];
    const scale = (SHADES - 1) / 2 / ranges[0], top = SHADES - 1;
    for (let x = 0, from = 0; x < width; ++x) {
      for (let y = 0, to = x; y < height; ++y, ++from, to += width) {
        if (parts.length === 2) colours[to] = this.blend(parts[0][from] / ranges[0], parts[1][from] / ranges[1]);
        else {
          const value = parts[0][from];
          colours[to] = value === value ? table[Math.min(top, Math.max(0, Math.round(value * scale + top / 2)))] : ABSENT;
        }
      }
    }
    return image;
  }

  isSigned(layer) {
    return layer.role === "adc" || layer.isDifference;
  }

  // Return the colour of two layers, from samples in units of their ranges.
  blend(a, b) {
    if (a !== a && b !== b) return ABSENT;
    const first = Math.min(255, Math.abs(a || 0) * 255), second = Math.min(255, Math.abs(b || 0) * 255);
    return this.blends[Math.round(first) << 8 | Math.round(second)];
  }

  masks(context, area) {
    const {state} = this, {plane} = area;
    if (!state.areMasksShown) return;
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.width, area.height);
    context.clip();
    Object.entries(state.event.masks).forEach(([, ranges], i) => {
      context.fillStyle = state.maskColour(i);
      context.globalAlpha = 0.45;
      for (const [channel, begin, end] of ranges) {
        const index = plane.positions.get(channel);
        if (index === undefined || end < state.from || begin > state.to) continue;
        const left = this.x(area, index), top = this.y(area, Math.min(end, state.to));
        context.fillRect(left, top, Math.max(1, this.x(area, index + 1) - left), Math.max(1, this.y(area, Math.max(begin, state.from)) - top));
      }
    });
    context.restore();
  }

  x(area, index) {
    return area.x + (index - area.plane.from) / (area.plane.to - area.plane.from) * area.width;
  }

  y(area, time) {
    return area.y + area.height - (time - this.state.from) / (this.state.to - this.state.from) * area.height;
  }

  // Draw what is around an image: title, channel axis, marks of the chosen channel and of the time under the mouse.
  frame(context, area) {
    const {plane} = area, bottom = area.y + area.height;
    context.strokeStyle = LINE;
    context.lineWidth = 1;
    context.strokeRect(area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
    context.font = `600 13px system-ui, sans-serif`;
    text(context, plane.title, area.x + area.width / 2, area.y - 14);
    context.font = FONT;
    const ids = plane.channels, isRow = ids[ids.length - 1] - ids[0] === ids.length - 1, zero = isRow ? ids[0] : 0;
    const isFree = spaces(context, area);
    for (const value of roundValues(plane.from + zero, plane.to + zero, Math.max(2, area.width / 75))) {
      const index = value - zero, x = this.x(area, index + 0.5);
      if (index < 0 || index >= ids.length || value !== Math.round(value) || x > area.x + area.width + 1) continue;
      context.fillStyle = LINE;
      context.fillRect(x, bottom + 1, 1, 5);
      const words = String(ids[index]), half = context.measureText(words).width / 2 - 5;
      const middle = Math.min(Math.max(x, area.x + half), area.x + area.width - half);
      if (isFree(words, middle)) text(context, words, middle, bottom + 15);
    }
    text(context, "channel", area.x + area.width / 2, bottom + 33, "center", SOFT);
    this.marks(context, area);
  }

  marks(context, area) {
    const {state} = this, index = area.plane.positions.get(state.channel);
    const x = index === undefined ? -1 : this.x(area, index + 0.5);
    if (x >= area.x && x <= area.x + area.width) {
      context.fillStyle = INK;
      for (const [y, tip] of [[area.y - 7, area.y], [area.y + area.height + 7, area.y + area.height]]) {
        context.beginPath();
        context.moveTo(x - 5, y);
        context.lineTo(x + 5, y);
        context.lineTo(x, tip);
        context.fill();
      }
    }
    if (state.cursor !== null && state.cursor >= state.from && state.cursor <= state.to) {
      context.fillStyle = "rgba(28, 36, 48, .45)";
      context.fillRect(area.x, Math.round(this.y(area, state.cursor)), area.width, 1);
    }
  }

  timeAxis(context) {
    const {state} = this, area = this.areas[0];
    for (const time of roundValues(state.from, state.to, area.height / 60)) {
      const y = this.y(area, time);
      context.fillStyle = LINE;
      context.fillRect(area.x - 6, y, 5, 1);
      text(context, numberText(time), area.x - 9, y, "right");
    }
    uprightText(context, "time [µs]", 12, area.y + area.height / 2);
  }

  bar(context, bar, position) {
    const {state} = this, range = state.range(bar.layer), isOverlay = this.layers.length === 2;
    const low = isOverlay ? 0 : this.isSigned(bar.layer) ? -range : bar.layer.negative ? -range / 4 : 0;
    const table = this.tables[this.isSigned(bar.layer) ? "adc" : "charge"], steps = Math.ceil(bar.height);
    for (let i = 0; i < steps; ++i) {
      const value = low + (range - low) * (1 - i / steps);
      const code = table[Math.round((value / range + 1) / 2 * (SHADES - 1))];
      const colour = isOverlay ? this.shades[position][Math.round(value / range * 255)] : [code & 255, code >> 8 & 255, code >> 16 & 255];
      context.fillStyle = `rgb(${colour.join(" ")})`;
      context.fillRect(bar.x, bar.y + i, bar.width, 1.5);
    }
    context.strokeStyle = LINE;
    context.strokeRect(bar.x - 0.5, bar.y - 0.5, bar.width + 1, bar.height + 1);
    for (const value of roundValues(low, range, bar.height / 45)) {
      text(context, numberText(value), bar.x + bar.width + 5, bar.y + bar.height * (range - value) / (range - low), "left");
    }
    uprightText(context, `${bar.layer.label} [${bar.layer.unit}]`, bar.x + bar.width + 58, bar.y + bar.height / 2);
  }

  // Return {area, index, time} under a point of the canvas, {bar} over a colour bar, or an empty object.
  at(x, y) {
    const inside = (part, margin = 0) => x >= part.x && x < part.x + part.width + margin && y >= part.y && y < part.y + part.height;
    const area = (this.areas || []).find((each) => inside(each));
    if (area) return this.position(area, x, y);
    const bar = (this.bars || []).find((each) => inside(each, 60));
    return bar ? {bar} : {};
  }

  position(area, x, y) {
    const {plane} = area, {from, to} = this.state;
    return {
      area,
      index: plane.from + (x - area.x) / area.width * (plane.to - plane.from),
      time: from + (area.y + area.height - y) / area.height * (to - from),
    };
  }
}
