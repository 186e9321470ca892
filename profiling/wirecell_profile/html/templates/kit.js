// SPDX-License-Identifier: Apache-2.0
"use strict";
// Parts of all pages with scripts: notes of errors, packed data, colours, canvases in the pixels of the screen.

// Errors of the page, where a test can read them.
const problems = [];
function note(problem) {
  problems.push(String(problem));
  document.body.dataset.errors = problems.join(" | ");
}
window.addEventListener("error", (event) => note(event.message));
window.addEventListener("unhandledrejection", (event) => note(event.reason));

// Return the bytes that packing.py packed.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function rgb(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, value >> 8 & 255, value & 255];
}

const FONT = "12px system-ui, sans-serif", INK = "#1c2430", SOFT = "#5f6b7a";

// Fit a canvas to a size in CSS pixels; return its context, empty, and the pixels of the screen for each of CSS.
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width, height);
  return {context, ratio, width, height};
}
