// SPDX-License-Identifier: Apache-2.0
// The page: layers, zoom, keys, tables. Tests use window.frameView.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const panels = page.planes.map((plane, index) => new Panel(index, plane, element("panels")));
const wave = new Waveform(element("wave"));
const state = { event: 0, a: 0, b: 0, mode: "one", gain: 1, times: null, whole: null, channel: null, hidden: new Set(), layers: [] };

function option(select, value, text) { select.add(new Option(text, value)); }
page.events.forEach((event, index) => option(element("event"), index, `${event.ident} (${index + 1} of ${page.events.length})`));
for (const id of ["a", "b"]) page.layers.forEach((layer, index) => option(element(id), index, layer.label));
const first = (kind, otherwise) => { const found = page.layers.findIndex((layer) => layer.kind === kind); return found < 0 ? otherwise : found; };
const charges = page.layers.map((layer, index) => [layer.kind, index]).filter(([kind]) => kind === "charge").map(([, index]) => index);
state.a = charges.length > 0 ? charges[0] : first("adc", 0);
state.b = charges.length > 1 ? charges[1] : first("adc", 0);

async function showEvent(index) {
  state.event = index;
  page.events.forEach((event, other) => { if (other !== index) event.layers.forEach((layer) => layer && delete layer.decoded); });
  state.layers = await Promise.all(page.events[index].layers.map(decodeLayer));
  const present = state.layers.filter((layer) => layer);
  state.whole = { t0: Math.min(...present.map((layer) => layer.start)), t1: Math.max(...present.map((layer) => layer.start + layer.ticks * layer.tick)) };
  state.times = state.times || { ...state.whole };
  if (state.channel === null) state.channel = brightest();
  fillTables();
  draw();
}

/** Return the channel with the largest sample of the shown layer. */
function brightest() {
  let best = null, most = 0;
  const layer = state.layers[state.a];
  for (const plane of layer ? layer.planes : []) {
    for (let i = 0; i < plane.samples.length; i++) {
      const row = Math.floor(i / layer.ticks), value = Math.abs(plane.samples[i] - (plane.baseline ? plane.baseline[row] : 0));
      if (value > most) { most = value; best = plane.channels[row]; }
    }
  }
  return best;
}

function draw() {
  const a = state.layers[state.a], b = state.layers[state.b], kinds = [page.layers[state.a].kind, page.layers[state.b].kind];
  for (const panel of panels) panel.draw(state.times, a, b, state.mode, kinds, state.gain, page.events[state.event].masks, state.channel);
  const lines = linesOf(state.channel);
  wave.draw(state.times, state.channel, lines.filter((line) => !state.hidden.has(line.index)), lines.find((line) => line.kind !== "adc" && !line.isTruth) || null);
  for (const [id, value] of [["event", state.event], ["a", state.a], ["b", state.b], ["mode", state.mode], ["channel", state.channel]]) element(id).value = value;
  element("b").disabled = state.mode === "one";
  drawLegend(kinds);
  document.body.dataset.drawn = "yes";
}

function linesOf(channel) {
  const plane = page.planes.findIndex((each) => channel >= each.first && channel <= each.last), lines = [];
  if (channel === null || plane < 0) return lines;
  state.layers.forEach((layer, index) => {
    const part = layer && layer.planes[plane], row = part && part.rowOf.get(channel);
    if (row === undefined || row === null) return;
    const kind = page.layers[index].kind, label = page.layers[index].label;
    lines.push({ index, kind, label, layer, isTruth: /truth/.test(label), colour: lineColours[lines.filter((line) => line.kind !== "adc").length % lineColours.length],
      samples: part.samples.subarray(row * layer.ticks, (row + 1) * layer.ticks), baseline: part.baseline ? part.baseline[row] : 0 });
    if (kind === "adc") lines[lines.length - 1].colour = ["#1d4e89", "#e07b00", "#1b6e3c"][lines.filter((line) => line.kind === "adc").length - 1] || "#5f6b7a";
  });
  return lines;
}

const number = (value) => (Math.abs(value) >= 1e5 ? value.toExponential(2) : Number(value.toPrecision(4)).toLocaleString("en"));

function drawLegend(kinds) {
  const layer = state.layers[state.a], parts = [];
  const gradient = (stops) => `linear-gradient(to right, ${stops.map((colour) => `rgb(${colour})`).join(", ")})`;
  const unit = { adc: "ADC counts above the baseline", charge: "electrons per tick", mask: "mask" };
  if (layer) {
    const limits = layer.planes.map((plane, i) => `${page.planes[i].name} ${number(plane.limit * state.gain)}`).join(", ");
    const signed = state.mode === "minus" || kinds[0] === "adc";
    if (state.mode === "over") {
      parts.push(...[state.a, state.b].map((index, i) => `<span><i style="background:rgb(${overColours[i]})"></i>${escaped(page.layers[index].label)}</span>`));
    } else {
      parts.push(`<span><i style="width:120px;background:${gradient(signed ? diverging : charge)}"></i>${signed ? "− to +, ends at ±" : "0 to "}${limits}: ${unit[kinds[0]]}</span>`);
    }
  }
  for (const name of Object.keys(page.events[state.event].masks)) parts.push(`<span><i style="background:${maskColours[name] || "#17a589"};opacity:.5"></i>mask ${escaped(name)}</span>`);
  element("legend").innerHTML = parts.join("");
  const lines = linesOf(state.channel);
  element("shown").innerHTML = lines.map((line) => `<label><input type="checkbox" data-index="${line.index}"${state.hidden.has(line.index) ? "" : " checked"}> <i style="background:${line.colour}"></i>${escaped(line.label)}</label>`).join("")
    + (lines.some((line) => line.kind !== "adc" && !line.isTruth) ? '<span><i style="background:#ffe9b0"></i>ROIs</span>' : "");
  for (const box of element("shown").querySelectorAll("input")) box.onchange = () => { state.hidden[box.checked ? "delete" : "add"](Number(box.dataset.index)); draw(); };
}

function escaped(text) { const span = document.createElement("span"); span.textContent = text; return span.innerHTML; }

function fillTables() {
  const charged = page.layers.map((layer, index) => [layer, index]).filter(([layer, index]) => layer.kind === "charge" && state.layers[index]);
  const cell = (value) => `<td>${value}</td>`;
  element("sums").innerHTML = charged.length === 0 ? "<p>No layer has charge.</p>"
    : `<table><thead><tr><th>plane</th>${charged.map(([layer]) => `<th>${escaped(layer.label)} [e]</th>`).join("")}${charged.length > 1 ? charged.slice(0, -1).map(([layer]) => `<th>${escaped(layer.label)} / ${escaped(charged[charged.length - 1][0].label)}</th>`).join("") : ""}</tr></thead><tbody>`
      + page.planes.map((plane, i) => {
        const sums = charged.map(([, index]) => state.layers[index].planes[i].sum), last = sums[sums.length - 1];
        return `<tr><td>${escaped(plane.name)}</td>${sums.map((sum) => cell(sum.toLocaleString("en", { maximumFractionDigits: 0 }))).join("")}${sums.slice(0, -1).map((sum) => cell(last ? (sum / last).toFixed(4) : "")).join("")}</tr>`;
      }).join("") + "</tbody></table>";
  const event = page.events[state.event], names = Object.keys(event.masks);
  element("mask-table").innerHTML = names.length === 0 ? "<p>No channel is masked.</p>"
    : `<table><thead><tr><th class="text">mask</th><th>ranges</th><th>channels</th><th class="text">first channels</th></tr></thead><tbody>${names.map((name) => {
      const channels = [...new Set(event.masks[name].map((range) => range[0]))].sort((a, b) => a - b);
      return `<tr><td class="text">${escaped(name)}</td>${cell(event.masks[name].length)}${cell(channels.length)}<td class="text">${channels.slice(0, 20).join(", ")}${channels.length > 20 ? ", ..." : ""}</td></tr>`;
    }).join("")}</tbody></table>`;
  const notes = Object.entries(event.notes);
  element("note-table").innerHTML = notes.length === 0 ? "<p>The files have no notes.</p>"
    : `<table class="manifest"><tbody>${notes.map(([key, text]) => `<tr><td>${escaped(key)}</td><td>${escaped(text)}</td></tr>`).join("")}</tbody></table>`;
}

function limited(low, high, least, most, narrowest) {
  let width = Math.max(narrowest, Math.min(high - low, most - least));
  let from = Math.max(least, Math.min(low, most - width));
  return [from, from + width];
}
function setTimes(t0, t1) { [state.times.t0, state.times.t1] = limited(t0, t1, state.whole.t0, state.whole.t1, 4); }
function setChannels(panel, c0, c1) { [panel.view.c0, panel.view.c1] = limited(c0, c1, panel.whole.c0, panel.whole.c1, 4); }
function zoom(panel, factor, channel, time, timeOnly) {
  const { view } = panel, { times } = state;
  setTimes(time - (time - times.t0) * factor, time + (times.t1 - time) * factor);
  if (!timeOnly) setChannels(panel, channel - (channel - view.c0) * factor, channel + (view.c1 - channel) * factor);
}
function fit() {
  for (const panel of panels) panel.view = { ...panel.whole };
  state.times = { ...state.whole };
}
function select(channel) { state.channel = channel; draw(); }
function valuesAt(channel, time) {
  return linesOf(channel).map((line) => {
    const tick = Math.floor((time - line.layer.start) / line.layer.tick);
    return [line.label, tick, tick >= 0 && tick < line.layer.ticks ? line.samples[tick] : null];
  });
}

let pending = false;
function redraw() { if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; draw(); }); } }

for (const panel of panels) {
  const { canvas } = panel;
  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(panel, Math.exp((event.deltaY || event.deltaX) * 0.0015), panel.channelAt(event.offsetX), panel.timeAt(event.offsetY, state.times), event.shiftKey);
    redraw();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, y: event.offsetY, view: { ...panel.view }, times: { ...state.times }, box: event.shiftKey, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    showTip(panel, event);
    if (!drag) return;
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    drag.moved = drag.moved || Math.hypot(dx, dy) > 4;
    if (!drag.moved) return;
    if (drag.box) {
      draw();
      panel.context.strokeStyle = "#1f4e9c";
      panel.context.strokeRect(drag.x, drag.y, dx, dy);
      return;
    }
    const box = panel.box(), channels = (dx / box.w) * (drag.view.c1 - drag.view.c0), time = (dy / box.h) * (drag.times.t1 - drag.times.t0);
    setChannels(panel, drag.view.c0 - channels, drag.view.c1 - channels);
    setTimes(drag.times.t0 + time, drag.times.t1 + time);
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const held = drag;
    drag = null;
    if (!held) return;
    if (!held.moved) {
      const channel = Math.round(panel.channelAt(event.offsetX));
      if (channel >= panel.plane.first && channel <= panel.plane.last) select(channel);
    } else if (held.box) {
      const channels = [panel.channelAt(held.x), panel.channelAt(event.offsetX)].sort((a, b) => a - b);
      const times = [panel.timeAt(held.y, state.times), panel.timeAt(event.offsetY, state.times)].sort((a, b) => a - b);
      setChannels(panel, ...channels);
      setTimes(...times);
      draw();
    }
  });
  canvas.addEventListener("dblclick", () => { fit(); draw(); });
  canvas.addEventListener("pointerleave", () => { element("tip").hidden = true; });
}
element("wave").addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = { x: 78, w: wave.width - 90 }, time = state.times.t0 + ((event.offsetX - box.x) / box.w) * (state.times.t1 - state.times.t0);
  const factor = Math.exp((event.deltaY || event.deltaX) * 0.0015);
  setTimes(time - (time - state.times.t0) * factor, time + (state.times.t1 - time) * factor);
  redraw();
}, { passive: false });

function showTip(panel, event) {
  const channel = Math.round(panel.channelAt(event.offsetX)), time = panel.timeAt(event.offsetY, state.times), tip = element("tip");
  const values = valuesAt(channel, time);
  tip.hidden = values.length === 0;
  tip.innerHTML = `<dl><dt>channel</dt><dd>${channel}</dd><dt>time</dt><dd>${time.toFixed(1)} µs</dd>${values.map(([label, tick, value]) => `<dt>${escaped(label)}</dt><dd>${value === null ? "outside" : number(value)} (tick ${tick})</dd>`).join("")}</dl>`;
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 280)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - 140)}px`;
}

const cycle = (index) => (index + 1) % page.layers.length;
const keys = {
  "+": () => middleZoom(1 / 1.5), "=": () => middleZoom(1 / 1.5), "-": () => middleZoom(1.5), 0: fit,
  ArrowRight: () => moveChannel(1), ArrowLeft: () => moveChannel(-1),
  a: () => { state.a = cycle(state.a); }, b: () => { state.b = cycle(state.b); },
  o: () => { state.mode = state.mode === "over" ? "one" : "over"; }, d: () => { state.mode = state.mode === "minus" ? "one" : "minus"; },
  n: () => showEvent(Math.min(page.events.length - 1, state.event + 1)), p: () => showEvent(Math.max(0, state.event - 1)),
};
function middleZoom(factor) {
  const { times } = state, time = (times.t0 + times.t1) / 2;
  setTimes(time - (time - times.t0) * factor, time + (times.t1 - time) * factor);
  for (const panel of panels) {
    const { view } = panel, channel = (view.c0 + view.c1) / 2;
    setChannels(panel, channel - (channel - view.c0) * factor, channel + (view.c1 - channel) * factor);
  }
}
function moveChannel(step) {
  const all = page.planes.flatMap((plane) => [plane.first, plane.last]);
  state.channel = Math.max(Math.min(...all), Math.min(Math.max(...all), (state.channel ?? all[0]) + step));
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT/.test(event.target.tagName) || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
  redraw();
});
element("event").onchange = (event) => showEvent(Number(event.target.value));
element("a").onchange = (event) => { state.a = Number(event.target.value); draw(); };
element("b").onchange = (event) => { state.b = Number(event.target.value); draw(); };
element("mode").onchange = (event) => { state.mode = event.target.value; draw(); };
element("range").oninput = (event) => { state.gain = 2 ** Number(event.target.value); redraw(); };
element("channel").onchange = (event) => select(Number(event.target.value));
element("zoom-in").onclick = () => { middleZoom(1 / 1.5); draw(); };
element("zoom-out").onclick = () => { middleZoom(1.5); draw(); };
element("fit").onclick = () => { fit(); draw(); };

function resize() { for (const panel of panels) panel.resize(); wave.resize(); }
window.addEventListener("resize", () => { resize(); redraw(); });
resize();
window.frameView = {
  ready: showEvent(0), state, panels, select, draw, valuesAt, showEvent,
  sample(layer, channel, tick) {
    const plane = page.planes.findIndex((each) => channel >= each.first && channel <= each.last), part = state.layers[layer].planes[plane];
    return part.samples[part.rowOf.get(channel) * state.layers[layer].ticks + tick];
  },
  zoomTo(index, c0, c1, t0, t1) { setChannels(panels[index], c0, c1); setTimes(t0, t1); draw(); },
};
