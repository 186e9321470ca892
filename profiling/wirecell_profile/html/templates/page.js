// SPDX-License-Identifier: Apache-2.0
"use strict";
// Mouse and keyboard input of the page, its sortable tables, and a self-check for the tests.

function listed(lines) {
  const list = document.createElement("dl");
  lines.forEach(([term, value], i) => {
    const name = document.createElement("dt"), text = document.createElement("dd");
    name.textContent = i ? term : "";
    text.textContent = i ? value : term;
    if (!i) text.className = "name";
    list.append(name, text);
  });
  return list;
}

function connect(timeline) {
  const {box, tip} = timeline, details = document.getElementById("details"), search = document.getElementById("search");
  const count = document.getElementById("matches");
  let held = null, moved = false, current = -1;
  const position = (event) => {
    const frame = box.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  const tell = (found) => details.replaceChildren(found.event !== undefined ? listed(timeline.describe(found)) : "");

  box.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    event.preventDefault();
    if (event.altKey) box.scrollTop += event.deltaY;
    else if (Math.abs(sideways) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) timeline.pan(sideways / 1000);
    else timeline.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), timeline.time(Math.max(position(event)[0], GUTTER)));
  }, {passive: false});
  box.addEventListener("pointerdown", (event) => {
    if (event.button || event.offsetX > box.clientWidth) return;
    held = {x: event.clientX, y: event.clientY, from: timeline.from, to: timeline.to, top: box.scrollTop};
    moved = false;
  });
  window.addEventListener("pointerup", () => { held = null; box.classList.remove("held"); });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    if (Math.hypot(event.clientX - held.x, event.clientY - held.y) > 3) moved = true;
    if (!moved) return;
    box.classList.add("held");
    const shift = (held.x - event.clientX) / timeline.scale;
    box.scrollTop = held.top + held.y - event.clientY;
    timeline.view(held.from + shift, held.to + shift);
  });
  box.addEventListener("mousemove", (event) => {
    const found = timeline.at(...position(event));
    const told = !held && (found.event !== undefined || found.counter);
    tip.hidden = !told;
    box.style.cursor = found.head !== undefined || found.event !== undefined ? "pointer" : "";
    if (!told) return;
    tip.replaceChildren(listed(timeline.describe(found)));
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    const below = event.clientY + 18;
    tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : event.clientY - tip.offsetHeight - 10}px`;
  });
  box.addEventListener("mouseleave", () => { tip.hidden = true; });
  box.addEventListener("click", (event) => {
    if (moved) return;
    const found = timeline.at(...position(event));
    if (found.head !== undefined) {
      if (!timeline.collapsed.delete(found.head)) timeline.collapsed.add(found.head);
      timeline.layout();
    }
    timeline.selected = found.event ?? -1;
    tell(found);
    timeline.draw();
  });
  box.addEventListener("dblclick", (event) => {
    const found = timeline.at(...position(event)), d = timeline.data;
    if (found.event !== undefined && d.duration[found.event] > 0) timeline.fit(d.start[found.event], d.start[found.event] + d.duration[found.event]);
    else timeline.fit();
  });
  const step = (direction) => {
    const found = timeline.found || [];
    if (!found.length) return;
    current = (current + direction + found.length) % found.length;
    timeline.go(found[current]);
    const row = timeline.data.rows.find((other) => other.tracks.some(([first, n]) => found[current] >= first && found[current] < first + n));
    tell({event: found[current], row});
    count.textContent = `${current + 1} of ${found.length}`;
  };
  search.addEventListener("input", () => {
    const found = timeline.find(search.value);
    current = -1;
    const without = timeline.data.merged ? " (without merged ones)" : "";
    count.textContent = search.value.trim() ? `${found.length} found${without}` : "";
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      search.value = "";
      search.dispatchEvent(new Event("input"));
      box.focus();
    }
    event.stopPropagation();
  });
  const actions = {
    ArrowLeft: () => timeline.pan(-0.15), ArrowRight: () => timeline.pan(0.15), a: () => timeline.pan(-0.15),
    d: () => timeline.pan(0.15), "+": () => timeline.zoom(0.7), "=": () => timeline.zoom(0.7), w: () => timeline.zoom(0.7),
    "-": () => timeline.zoom(1 / 0.7), s: () => timeline.zoom(1 / 0.7), ArrowUp: () => { box.scrollTop -= 40; },
    ArrowDown: () => { box.scrollTop += 40; }, 0: () => timeline.fit(), Home: () => timeline.fit(), "/": () => search.focus(),
    n: () => step(1), Escape: () => { timeline.selected = -1; tell({}); timeline.draw(); },
  };
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
  for (const [id, action] of [["zoom-in", "+"], ["zoom-out", "-"], ["fit", "0"], ["next", "n"]]) {
    document.getElementById(id).addEventListener("click", actions[action]);
  }
}

function sortable(table) {
  table.querySelectorAll("th button").forEach((button) => button.addEventListener("click", () => {
    const head = button.parentElement, column = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
    };
    const missing = (value) => value === "";
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => missing(a) || missing(b) ? missing(a) - missing(b)
      : (typeof a === "number" ? a - b : String(a).localeCompare(String(b))) * (down ? -1 : 1));
    body.append(...rows.map(([, row]) => row));
  }));
}

// Counts the pixels that are not background and notes what was drawn where a test can read it.
function inspect(timeline) {
  timeline.paint();
  const {width, height} = timeline.canvas, pixels = timeline.context.getImageData(0, 0, width, height).data;
  const edge = Math.round((GUTTER + 1) * (window.devicePixelRatio || 1));
  let inked = 0;
  for (let y = 0; y < height; ++y) {
    for (let x = edge; x < width; ++x) {
      const i = 4 * (y * width + x);
      if (Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 24) ++inked;
    }
  }
  const said = document.body.dataset;
  said.inked = inked;
  said.events = timeline.data.events;
  said.points = timeline.data.points;
  said.rows = timeline.data.rows.length;
  said.paintMs = timeline.took.toFixed(1);
  said.timeline = "drawn";
}

window.addEventListener("DOMContentLoaded", async () => {
  document.querySelectorAll("table.sortable").forEach(sortable);
  const data = document.getElementById("timeline-data");
  if (!data) return;
  const timeline = new Timeline(document.getElementById("timeline"), await unpack(data.textContent));
  window.timeline = timeline;
  connect(timeline);
  inspect(timeline);
});
