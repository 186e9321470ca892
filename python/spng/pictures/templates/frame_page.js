// SPDX-License-Identifier: Apache-2.0
"use strict";
// Mouse, keys and controls of the page of frames, its tables and its address.

const HINT = "wheel: zoom · drag: zoom to the box · shift + drag: move · double click: everything · click: waveform · ?: all keys";
const part = (id) => document.getElementById(id);

function element(name, words, properties = {}) {
  return Object.assign(document.createElement(name), {textContent: words}, properties);
}

function tableOf(head, rows) {
  const table = document.createElement("table");
  for (const [kind, cells] of [["th", head], ...rows.map((row) => ["td", row])]) {
    const row = table.insertRow();
    row.append(...cells.map((cell) => element(kind, String(cell))));
  }
  return table;
}

// Fill what depends on the event only.
function describeEvent(view) {
  const {event, layers, planes} = view, count = planes.reduce((sum, plane) => sum + plane.channels.length, 0);
  part("subtitle").textContent = [
    view.about.events.length > 1 ? `event ${event.ident}, ${view.index + 1} of ${view.about.events.length}` : `event ${event.ident}`,
    `${count} channels`, `${planes.map((plane) => plane.title).join(", ")}`, `layers ${layers.map((layer) => layer.label).join(", ")}`,
  ].join(" · ");
  for (const [id, which] of [["layer-a", "a"], ["layer-b", "b"]]) {
    part(id).replaceChildren(...layers.map((layer) => element("option", layer.label, {value: layer.label})));
    part(id).value = view[which].label;
  }
  document.querySelectorAll(".of-b").forEach((each) => { each.hidden = layers.length < 2; });
  part("event-tools").hidden = view.about.events.length < 2;
  part("mask-tools").hidden = !Object.keys(event.masks).length;
  part("table").replaceChildren(tableOf(["", ...planes.map((plane) => plane.title), "all"], event.table.map(([name, cells]) => [name, ...cells])));
  const masks = Object.entries(event.masks).map(([name, ranges]) => [`mask "${name}"`, "", "", `${new Set(ranges.map(([channel]) => channel)).size} channels`, `${ranges.length} ranges`, ""]);
  part("layers").replaceChildren(tableOf(["layer", "from", "samples", "channels", "ticks", "time [µs]"], [...layers.map((layer) => [
    layer.label, layer.origin, `${layer.type}, ${layer.unit}`, layer.rows.size, `${layer.ticks} of ${numberText(layer.tick)} µs`,
    `${numberText(layer.start)} to ${numberText(layer.end)}`]), ...masks]));
  part("notes").replaceChildren(event.notes.length ? tableOf(["from", "note", "text"], event.notes) : element("p", "The files have no notes."));
}

// Fill what depends on the view.
function describeView(view) {
  const {images} = view, drawn = images.layers[0], plane = view.planeOf(view.channel);
  part("event").value = view.index;
  part("layer-a").value = view.a.label;
  part("layer-b").value = view.b.label;
  document.querySelectorAll("[data-mode]").forEach((button) => {
    button.setAttribute("aria-pressed", button.dataset.mode === view.mode);
    button.disabled = Boolean(view.obstacle(button.dataset.mode));
    button.title = view.obstacle(button.dataset.mode) || button.dataset.about;
  });
  document.querySelectorAll(".key").forEach((key) => {
    const position = key.classList.contains("a") ? 0 : 1;
    key.style.borderColor = view.mode === "overlay" ? view.palette.overlay[position] : "transparent";
  });
  if (document.activeElement !== part("range")) part("range").value = Number(view.range(drawn).toPrecision(4));
  part("unit").textContent = drawn.unit;
  if (document.activeElement !== part("channel")) part("channel").value = view.channel;
  part("wave-title").textContent = `Waveform of channel ${view.channel}, ${plane.title}`;
  describeLegend(view);
}

// Name the colours of the waveforms, and let each curve be switched. Made again only if it changes: it has the focus of the keys.
function describeLegend(view) {
  const entries = view.layers.filter((layer) => layer.rows.has(view.channel)).map((layer) => {
    const baseline = layer.baseline(view.channel);
    return {layer: layer.label, words: baseline ? `${layer.label} − ${numberText(baseline)} (median)` : layer.label, colour: layer.colour};
  });
  if (view.waves.shadedLabel) entries.push({words: `ROIs of ${view.waves.shadedLabel}`, colour: view.palette.roi});
  if (view.areMasksShown) entries.push(...Object.keys(view.event.masks).map((name, i) => ({words: `mask ${name}`, colour: view.maskColour(i)})));
  const content = JSON.stringify(entries);
  if (part("legend").dataset.content === content) return;
  part("legend").dataset.content = content;
  part("legend").replaceChildren(...entries.map(({layer, words, colour}) => {
    const item = element(layer === undefined ? "span" : "label", words), swatch = element("i", "", {className: "swatch"});
    swatch.style.backgroundColor = colour;  // a style attribute is against the policy of the page
    item.prepend(swatch);
    if (layer !== undefined) {
      const box = element("input", "", {type: "checkbox", checked: !view.hidden.has(layer), title: "show or hide this curve"});
      box.addEventListener("change", () => view.showCurve(layer, box.checked));
      item.prepend(box);
    }
    return item;
  }));
}

// Keep the view in the address, so that a reload or a bookmark returns to it. Pages inside notebooks have no address.
function keepAddress(view) {
  if (location.protocol === "about:") return;
  clearTimeout(view.timer);
  view.timer = setTimeout(() => history.replaceState(null, "", `#${view.address}`), 300);
}

function connectMouse(view) {
  const {images} = view, {box} = images, frame = part("box");
  let held = null;
  const point = (event) => {
    const area = images.canvas.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };
  box.addEventListener("wheel", (event) => {
    const found = images.at(...point(event)), factor = Math.exp(Math.max(-200, Math.min(200, event.deltaY || event.deltaX)) / 400);
    if (!found.area && !found.bar) return;
    event.preventDefault();
    if (found.bar) view.setRange(view.range(found.bar.layer) * factor);
    else {
      if (!event.altKey) view.zoomTime(factor, found.time);
      if (!event.shiftKey) view.zoomChannels(factor, found.area.plane, found.index);
    }
  }, {passive: false});
  box.addEventListener("pointerdown", (event) => {
    const found = images.at(...point(event));
    if (event.button > 1 || !found.area) return;
    const {plane} = found.area;
    held = {...found, start: point(event), isPan: event.shiftKey || event.button === 1, moved: false, view: [plane.from, plane.to, view.from, view.to]};
    box.classList.toggle("held", held.isPan);
  });
  box.addEventListener("pointermove", (event) => {
    if (held) return;
    const found = images.at(...point(event)), channel = found.area?.plane.channels[Math.floor(found.index)];
    tell(channel === undefined ? [] : view.describe(channel, found.time));
    setCursor(channel === undefined ? null : found.time);
  });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = point(event);
    held.moved ||= Math.hypot(x - held.start[0], y - held.start[1]) > 4;
    if (!held.moved) return;
    const {area} = held;
    if (held.isPan) {
      const [first, last, from, to] = held.view;
      const channels = (held.start[0] - x) / area.width * (last - first), time = (y - held.start[1]) / area.height * (to - from);
      view.showChannels(area.plane, first + channels, last + channels);
      view.showTime(from + time, to + time);
    } else {
      const [left, top, right, bottom] = corners(x, y);
      const offset = images.canvas.offsetTop;
      Object.assign(frame.style, {left: `${left}px`, top: `${top + offset}px`, width: `${right - left}px`, height: `${bottom - top}px`});
      frame.hidden = false;
    }
  });
  const corners = (x, y) => {
    const {area, start} = held, clip = (value, low, size) => Math.min(Math.max(value, low), low + size);
    const xs = [start[0], clip(x, area.x, area.width)], ys = [start[1], clip(y, area.y, area.height)];
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  };
  window.addEventListener("pointerup", (event) => {
    if (!held) return;
    const {area} = held;
    if (!held.moved) view.choose(area.plane.channels[Math.floor(held.index)]);
    else if (!held.isPan) {
      const [left, top, right, bottom] = corners(...point(event));
      const low = images.position(area, left, bottom), high = images.position(area, right, top);
      view.showChannels(area.plane, low.index, high.index);
      view.showTime(low.time, high.time);
    }
    held = null;
    frame.hidden = true;
    box.classList.remove("held");
  });
  box.addEventListener("pointerleave", () => { setCursor(null); tell([]); });
  box.addEventListener("dblclick", () => view.fit());

  const {canvas} = view.waves, time = (event) => view.waves.time(event.clientX - canvas.getBoundingClientRect().left);
  let dragged = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoomTime(Math.exp(Math.max(-200, Math.min(200, event.deltaY || event.deltaX)) / 400), time(event));
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    dragged = {from: view.from, to: view.to, x: event.clientX};
  });
  window.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const shift = (dragged.x - event.clientX) / view.waves.area.width * (dragged.to - dragged.from);
    view.showTime(dragged.from + shift, dragged.to + shift);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged) return;
    setCursor(time(event));
    tell(view.describe(view.channel, time(event)));
  });
  window.addEventListener("pointerup", () => { dragged = null; });
  canvas.addEventListener("pointerleave", () => { setCursor(null); tell([]); });
  canvas.addEventListener("dblclick", () => view.fit());

  function setCursor(value) {
    if (view.cursor === value) return;
    view.cursor = value;
    view.draw();
  }

  function tell(lines) {
    part("readout").replaceChildren(...lines.flatMap(([name, words]) => [`${name} `, element("b", String(words))]));
    if (!lines.length) part("readout").textContent = HINT;
  }
  tell([]);
}

function connectControls(view) {
  const load = async (index) => {
    if (index < 0 || index >= view.about.events.length) return;
    part("busy").hidden = false;
    await view.load(index);
    part("busy").hidden = true;
    describeEvent(view);
  };
  part("event").replaceChildren(...view.about.events.map((event, i) => element("option", event.ident, {value: i})));
  part("event").addEventListener("change", (event) => load(Number(event.target.value)));
  part("layer-a").addEventListener("change", (event) => view.setLayer("a", view.labelled(event.target.value)));
  part("layer-b").addEventListener("change", (event) => view.setLayer("b", view.labelled(event.target.value)));
  part("range").addEventListener("change", (event) => view.setRange(Number(event.target.value)));
  part("channel").addEventListener("change", (event) => view.choose(Number(event.target.value)));
  document.querySelectorAll("[data-mode]").forEach((button) => button.addEventListener("click", () => view.setMode(button.dataset.mode)));
  const masks = (areShown) => {
    view.areMasksShown = part("masks").checked = areShown;
    view.draw();
  };
  part("masks").addEventListener("change", (event) => masks(event.target.checked));
  const range = () => view.range(view.images.layers[0]);
  const actions = {
    ArrowLeft: () => view.pan(-0.15, 0), ArrowRight: () => view.pan(0.15, 0), ArrowUp: () => view.pan(0, 0.15), ArrowDown: () => view.pan(0, -0.15),
    "+": () => view.zoom(0.7), "=": () => view.zoom(0.7), "-": () => view.zoom(1 / 0.7), 0: () => view.fit(), Home: () => view.fit(),
    ",": () => view.step(-1), ".": () => view.step(1), z: () => view.showPulse(), p: () => load(view.index - 1), n: () => load(view.index + 1),
    a: () => view.setMode("a"), b: () => view.setMode("b"), o: () => view.setMode("overlay"), d: () => view.setMode("difference"),
    "[": () => view.setRange(range() / 1.25), "]": () => view.setRange(range() * 1.25), r: () => view.setRange(0), m: () => masks(!view.areMasksShown),
    "?": () => part("keys").showModal(),
  };
  const clicks = {"zoom-in": "+", "zoom-out": "-", fit: "0", pulse: "z", auto: "r", down: ",", up: ".", previous: "p", next: "n", help: "?"};
  for (const [id, key] of Object.entries(clicks)) part(id).addEventListener("click", actions[key]);
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, dialog")) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    const action = digit ? () => view.setLayer(event.shiftKey ? "b" : "a", view.layers[digit[1] - 1]) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

window.addEventListener("DOMContentLoaded", async () => {
  if (!window.DecompressionStream) {
    part("busy").textContent = "This browser is too old for the page: it lacks DecompressionStream (all browsers since May 2023).";
    return;
  }
  const view = new FrameView(JSON.parse(part("about").textContent));
  window.frameView = view;
  view.listeners.push(() => describeView(view), () => keepAddress(view));
  await view.go(location.protocol === "about:" ? "" : location.hash.slice(1));
  part("busy").hidden = true;
  describeEvent(view);
  connectMouse(view);
  connectControls(view);
  view.paint();
  new ResizeObserver(() => view.draw()).observe(view.images.box);
  document.body.dataset.frames = "drawn";
});
