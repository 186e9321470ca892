// SPDX-License-Identifier: Apache-2.0
"use strict";
// Parts of all pictures: colour tables, axes.

const LINE = "#c9d0d8", ABSENT = 0xfff2efec;
const SHADES = 512;  // of a colour table, from -range to range

// Return the colour at `share` (0 to 1) of equally spaced stops.
function between(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
  const low = rgb(stops[i]), high = rgb(stops[i + 1]);
  return low.map((value, k) => Math.round(value + (high[k] - value) * (at - i)));
}

function packed([red, green, blue]) {
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

// Return the colours of samples from -range to range, as ImageData has them.
function colourTable(palette, isSigned) {
  const table = new Uint32Array(SHADES);
  for (let i = 0; i < SHADES; ++i) {
    const value = 2 * i / (SHADES - 1) - 1;
    if (isSigned) table[i] = packed(between(palette.adc, (value + 1) / 2));
    else table[i] = packed(value < 0 ? between(palette.negative_charge, value + 1) : between(palette.charge, value));
  }
  return table;
}

// Return round values in [low, high], about `count` of them.
function roundValues(low, high, count) {
  const span = high - low, values = [];
  if (!(span > 0)) return values;
  let step = 10 ** Math.floor(Math.log10(span / count));
  for (const factor of [2, 2.5, 2]) if (span / step > count) step *= factor;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * span; ++i) values.push(i * step);
  return values;
}

function numberText(value) {
  const size = Math.abs(value);
  if (size >= 1e4) return value.toLocaleString("en-US", {maximumFractionDigits: 0}).replaceAll(",", "\u2009").replace("-", "−");
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function text(context, words, x, y, align = "center", colour = INK, baseline = "middle") {
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillStyle = colour;
  context.fillText(words, x, y);
}

// Return a function that tells whether there is space for a word below an axis, centred at x, behind the words before it.
function spaces(context, area) {
  let end = area.x - 30;
  return (words, x) => {
    const half = context.measureText(words).width / 2;
    if (x - half < end) return false;
    end = x + half + 6;
    return true;
  };
}

function uprightText(context, words, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  text(context, words, 0, 0);
  context.restore();
}
