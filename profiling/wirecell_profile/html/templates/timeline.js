// SPDX-License-Identifier: Apache-2.0
"use strict";
// The timeline, drawn on a canvas from the data that data.js unpacks. Times are ns from the origin.

const GUTTER = 178, AXIS = 26, HEAD = 20, GAP = 5, COUNTER = 46;
const TRACK = {nvtx: 18, flight: 16, marks: 14, api: 14, system: 10, device: 16};
const SHORTEST = 10;  // ns that the view may shrink to

class Timeline {
  constructor(box, data) {
    this.box = box;
    this.data = data;
    this.canvas = box.querySelector("canvas");
    this.tip = document.getElementById("tip");
    this.collapsed = new Set(data.rows.map((row) => row.group));  // threads that only call the operating system
    data.rows.filter((row) => row.kind !== "system").forEach((row) => this.collapsed.delete(row.group));
    this.selected = -1;
    this.matches = null;  // per string whether the search finds it
    this.from = 0;
    this.to = data.length;
    this.sums();
    this.layout();
    this.fit();
    new ResizeObserver(() => this.draw()).observe(box);
    box.addEventListener("scroll", () => this.draw());
  }

  // Add up busy times: two look-ups then tell how full a pixel is, for any count of events.
  sums() {
    const d = this.data;
    d.sum = new Float64Array(d.events + 1);
    for (let i = 0; i < d.events; ++i) d.sum[i + 1] = d.sum[i] + d.busy[i];
    for (const counter of d.counters) {
      let low = Infinity, high = -Infinity;
      for (let i = counter.first; i < counter.first + counter.count; ++i) {
        low = Math.min(low, d.value[i]);
        high = Math.max(high, d.value[i]);
      }
      counter.low = Math.min(0, low);
      counter.high = counter.unit === "%" ? Math.max(100, high) : high > counter.low ? high : counter.low + 1;
    }
  }

  layout() {
    this.items = [];
    let y = 0, group = null;
    const open = (name) => {
      if (name !== group) {
        group = name;
        this.items.push({head: name, y, height: HEAD});
        y += HEAD;
      }
      return !this.collapsed.has(name);
    };
    const all = [...this.data.rows.map((row) => ({row, group: row.group})),
                 ...this.data.counters.map((counter) => ({counter, group: counter.group}))];
    const order = [...new Set(all.map((item) => item.group))];
    for (const name of order) {
      for (const item of all.filter((other) => other.group === name)) {
        if (!open(name)) continue;
        const height = item.row ? TRACK[item.row.kind] * item.row.tracks.length : COUNTER;
        this.items.push({...item, y, height});
        y += height + GAP;
      }
    }
    this.height = y;
    this.box.querySelector(".spacer").style.height = `${y + AXIS}px`;
  }

  fit(from = this.data.window[0], to = this.data.window[1]) {
    const margin = Math.max((to - from) * 0.015, SHORTEST);
    this.view(from - margin, to + margin);
  }

  view(from, to) {
    const length = Math.min(Math.max(to - from, SHORTEST), this.data.length * 1.1);
    const middle = (from + to) / 2, edge = this.data.length * 0.05;
    this.from = Math.min(Math.max(middle - length / 2, -edge), this.data.length + edge - length);
    this.to = this.from + length;
    this.draw();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const step = (this.to - this.from) * share;
    this.view(this.from + step, this.to + step);
  }

  x(time) {
    return GUTTER + (time - this.from) * this.scale;
  }

  time(x) {
    return this.from + (x - GUTTER) / this.scale;
  }

  // Return the first event of [first, first + count) that ends after a time. Events of a track do not overlap.
  search(first, count, time) {
    const {start, duration} = this.data;
    let low = first, high = first + count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start[middle] + duration[middle] >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    const begun = performance.now();
    const width = this.box.clientWidth, height = Math.min(this.box.clientHeight, this.height + AXIS);
    this.context = fitted(this.canvas, width, height).context;
    this.width = width;
    this.scale = (width - GUTTER - 8) / (this.to - this.from);
    this.shade(height);
    const top = this.box.scrollTop;
    for (const item of this.items) {
      const y = item.y - top + AXIS;
      if (y + item.height < AXIS || y > height) continue;
      if (item.head !== undefined) this.heading(item, y);
      else if (item.row) this.row(item, y);
      else this.counter(item, y);
    }
    this.arrow(top);
    this.axis();
    this.took = performance.now() - begun;
  }

  // Shade times outside of window W, to which utilisations refer.
  shade(height) {
    const c = this.context, [first, last] = this.data.window.map((time, i) => i < 2 ? this.x(time) : 0);
    c.fillStyle = "#f1f3f5";
    if (first > GUTTER) c.fillRect(GUTTER, AXIS, first - GUTTER, height);
    if (last < this.width) c.fillRect(Math.max(last, GUTTER), AXIS, this.width, height);
  }

  axis() {
    const c = this.context, span = this.to - this.from;
    c.fillStyle = "#f4f6f8";
    c.fillRect(0, 0, this.width, AXIS - 1);
    c.fillStyle = "#c9d0d8";
    c.fillRect(0, AXIS - 1, this.width, 1);
    c.fillStyle = "#1c2430";
    c.textAlign = "left";
    c.fillText(`${timeText(span)} in view`, 8, AXIS / 2);
    let step = 10 ** Math.floor(Math.log10(span / Math.max(2, (this.width - GUTTER) / 110)));
    for (const factor of [1, 2, 5, 10]) {
      if (step * factor * this.scale >= 95) {
        step *= factor;
        break;
      }
    }
    const zero = this.data.window[0];
    const digits = Math.max(4, Math.ceil(Math.log10(Math.max(Math.abs(this.to - zero), step) / step)) + 2);
    c.textAlign = "center";
    for (let tick = Math.ceil((this.from - zero) / step) * step; tick + zero <= this.to; tick += step) {
      const x = this.x(tick + zero);
      if (x < GUTTER + 4) continue;
      c.fillStyle = "#e3e7ec";
      c.fillRect(x, AXIS - 5, 1, 5);
      c.fillStyle = "#1c2430";
      if (x < this.width - 34) c.fillText(Math.abs(tick) < step / 2 ? "0" : timeText(tick, digits), x, AXIS / 2 - 2);
    }
  }

  heading(item, y) {
    const c = this.context;
    c.fillStyle = "#e9edf1";
    c.fillRect(0, y, this.width, item.height - 2);
    c.fillStyle = "#1c2430";
    c.textAlign = "left";
    c.font = `600 ${FONT}`;
    c.fillText(`${this.collapsed.has(item.head) ? "▸" : "▾"} ${item.head}`, 8, y + item.height / 2 - 1);
    c.font = FONT;
  }

  label(text, y, height) {
    const c = this.context;
    c.fillStyle = "#ffffff";
    c.fillRect(0, y, GUTTER, height);
    c.fillStyle = "#4a5563";
    c.textAlign = "left";
    c.fillText(this.clipped(text, GUTTER - 26), 22, y + Math.min(height, 18) / 2);
  }

  clipped(text, width) {
    const letters = Math.floor(width / 6.7);
    return text.length <= letters ? text : letters < 3 ? "" : text.slice(0, letters - 1) + "…";
  }

  row(item, y) {
    const track = TRACK[item.row.kind];
    item.row.tracks.forEach(([first, count], i) => this.track(first, count, y + i * track, track - 1, item.row.kind === "marks"));
    this.label(item.row.title, y, item.height);
  }

  track(first, count, y, height, isMark) {
    const c = this.context, d = this.data, last = first + count;
    let i = this.search(first, count, this.from);
    while (i < last && d.start[i] <= this.to) {
      const left = Math.max(this.x(d.start[i]), GUTTER);
      const right = this.x(d.start[i] + d.duration[i]);
      if (right - left >= 2) {
        this.bar(i, left, Math.min(right, this.width), y, height);
        ++i;
        continue;
      }
      // Draw all events that begin within this pixel as one bar, paler the emptier the pixel is.
      const pixel = 1 / this.scale;
      let next = this.search(i + 1, last - i - 1, d.start[i] + pixel);
      if (next > i + 1 && d.start[next - 1] > d.start[i] + pixel) --next;
      const share = Math.min(1, (d.sum[next] - d.sum[i]) / pixel);
      c.globalAlpha = isMark ? 1 : 0.3 + 0.7 * share;
      c.fillStyle = this.dim(i, next) ? "#dfe3e8" : d.colours[d.colour[this.shown(i, next)]];
      c.fillRect(left, y, isMark ? 2 : 1, height);
      c.globalAlpha = 1;
      i = Math.max(next, i + 1);
    }
  }

  // Return the event that gives a crowded pixel its colour: a match of the search, else the longest of the first 32.
  shown(first, next) {
    let best = first;
    for (let i = first; i < Math.min(next, first + 32); ++i) {
      if (this.matches && this.matches[this.data.name[i]]) return i;
      if (this.data.duration[i] > this.data.duration[best]) best = i;
    }
    return best;
  }

  dim(first, next) {
    if (!this.matches) return false;
    for (let i = first; i < Math.min(next, first + 32); ++i) {
      if (this.matches[this.data.name[i]]) return false;
    }
    return true;
  }

  bar(i, left, right, y, height) {
    const c = this.context, d = this.data, colour = d.colours[d.colour[i]], dim = this.dim(i, i + 1);
    const width = Math.max(right - left - (right - left > 4 ? 1 : 0), 1);
    const several = d.count[i] > 1;
    if (several) c.globalAlpha = 0.25 + 0.45 * Math.min(1, d.busy[i] / d.duration[i]);
    c.fillStyle = dim ? "#e6e9ed" : colour;
    c.fillRect(left, y, width, height);
    c.globalAlpha = 1;
    if (i === this.selected) {
      c.strokeStyle = "#000000";
      c.lineWidth = 2;
      c.strokeRect(left + 1, y + 1, Math.max(width - 2, 1), height - 2);
    }
    if (width < 26 || height < 11) return;
    c.fillStyle = dim ? "#9aa5b1" : isDark(colour) && !several ? "#ffffff" : "#1c2430";
    c.textAlign = "left";
    c.fillText(this.clipped(this.text(i), width - 8), left + 4, y + height / 2 + 0.5);
  }

  // Return the text on a bar.
  text(i) {
    const d = this.data, name = d.strings[d.name[i]];
    return d.count[i] > 1 ? `${d.count[i]} merged` : name === "event" && d.event[i] !== d.noEvent ? `event ${d.event[i]}` : name;
  }

  counter(item, y) {
    const c = this.context, d = this.data, counter = item.counter, bottom = y + COUNTER - 4;
    const level = (value) => bottom - (value - counter.low) / (counter.high - counter.low) * (COUNTER - 10);
    c.fillStyle = "#f7f9fb";
    c.fillRect(GUTTER, y, this.width, COUNTER - 4);
    c.beginPath();
    let previous = null, end = counter.first + counter.count;
    let i = counter.first;
    while (i + 1 < end && d.time[i + 1] < this.from) ++i;
    c.moveTo(Math.max(this.x(d.time[i]), GUTTER), bottom);
    for (; i < end; ++i) {
      const x = Math.min(Math.max(this.x(d.time[i]), GUTTER), this.width);
      if (previous !== null) c.lineTo(x, level(previous));
      c.lineTo(x, level(d.value[i]));
      previous = d.value[i];
      if (d.time[i] > this.to) break;
    }
    c.lineTo(Math.min(Math.max(this.x(d.time[Math.min(i, end - 1)]), GUTTER), this.width), bottom);
    c.fillStyle = "#cfe0f1";
    c.fill();
    c.strokeStyle = "#1f4e9c";
    c.lineWidth = 1;
    c.stroke();
    this.label(counter.title, y, COUNTER);
    c.fillStyle = "#6b7683";
    c.font = "11px system-ui, sans-serif";
    c.fillText(`${amountText(counter.low, counter.unit)} … ${amountText(counter.high, counter.unit)}`, 22, y + 26);
    c.font = FONT;
  }

  // Draw arrows from the launching call to its device operations for the selected event.
  arrow(top) {
    if (this.selected < 0) return;
    const d = this.data, c = this.context;
    const pairs = d.link[this.selected] >= 0 ? [[d.link[this.selected], this.selected]]
      : this.launched(this.selected).slice(0, 200).map((i) => [this.selected, i]);
    c.strokeStyle = "#000000";
    c.lineWidth = 1;
    for (const [from, to] of pairs) {
      const a = this.middleOf(from), b = this.middleOf(to);
      if (!a || !b) continue;
      c.beginPath();
      c.moveTo(Math.max(this.x(d.start[from]), GUTTER), a - top + AXIS);
      c.lineTo(Math.max(this.x(d.start[to]), GUTTER), b - top + AXIS);
      c.stroke();
    }
  }

  launched(call) {
    const found = [];
    for (let i = 0; i < this.data.events; ++i) if (this.data.link[i] === call) found.push(i);
    return found;
  }

  // Return the vertical middle of an event's track, undefined if its group is closed.
  middleOf(event) {
    for (const item of this.items) {
      if (!item.row) continue;
      const track = item.row.tracks.findIndex(([first, count]) => event >= first && event < first + count);
      if (track >= 0) return item.y + (track + 0.5) * TRACK[item.row.kind];
    }
    return undefined;
  }

  // Return the item under a point of the box: {head}, {event}, {counter, point}, or an empty object.
  at(x, y) {
    const d = this.data, under = y - AXIS + this.box.scrollTop;
    if (y < AXIS) return {};
    const item = this.items.find((other) => under >= other.y && under < other.y + other.height);
    if (!item) return {};
    if (item.head !== undefined) return {head: item.head};
    if (x < GUTTER) return {item};
    const time = this.time(x), near = 2 / this.scale;
    if (item.counter) {
      let i = item.counter.first;
      while (i + 1 < item.counter.first + item.counter.count && d.time[i + 1] <= time) ++i;
      return {counter: item.counter, point: i};
    }
    const track = Math.floor((under - item.y) / TRACK[item.row.kind]);
    if (!item.row.tracks[track]) return {};
    const [first, count] = item.row.tracks[track];
    const i = this.search(first, count, time - near);
    return i < first + count && d.start[i] <= time + near ? {event: i, row: item.row} : {};
  }

  describe(found) {
    const d = this.data;
    if (found.counter) {
      const c = found.counter;
      const note = c.averaged > 1 ? `, mean of ${c.averaged} samples` : "";
      return [[c.title, ""], ["value", amountText(d.value[found.point], c.unit) + note],
              ["time", timeText(d.time[found.point] - d.window[0], 7)]];
    }
    const i = found.event, name = d.strings[d.name[i]] || "(no name)";
    if (d.count[i] > 1) {
      return [[`${d.count[i]} merged, of at most ${timeText(d.longestMerged)} each`, ""], ["longest", name],
              ["together", `${timeText(d.busy[i])} of ${timeText(d.duration[i])}`],
              ["start", timeText(d.start[i] - d.window[0], 7)], ["row", `${found.row.group}, ${found.row.title}`]];
    }
    const lines = [[name, ""]];
    if (d.duration[i] > 0 || found.row.kind !== "marks") lines.push(["duration", timeText(d.duration[i])]);
    lines.push(["start", timeText(d.start[i] - d.window[0], 7)]);
    if (d.event[i] !== d.noEvent) lines.push([found.row.kind === "nvtx" || found.row.kind === "flight" ? "event" : "value", d.event[i]]);
    if (d.note[i]) lines.push(["", d.strings[d.note[i]]]);
    if (d.link[i] >= 0) {
      const call = d.link[i], queue = d.start[i] - d.start[call] - d.duration[call];
      lines.push(["launched by", `${d.strings[d.name[call]]}, ` + (queue > 0 ? `queued ${timeText(queue)}` : "started before the call returned")]);
    }
    lines.push(["row", `${found.row.group}, ${found.row.title}`]);
    return lines;
  }

  find(text) {
    const wanted = text.trim().toLowerCase(), d = this.data;
    this.matches = wanted ? d.strings.map((name) => name.toLowerCase().includes(wanted)) : null;
    this.found = [];
    if (this.matches) {
      for (let i = 0; i < d.events; ++i) if (d.count[i] === 1 && this.matches[d.name[i]]) this.found.push(i);
      this.found.sort((a, b) => d.start[a] - d.start[b]);
    }
    this.draw();
    return this.found;
  }

  // Select an event and bring it into view.
  go(event) {
    const d = this.data, length = Math.max(d.duration[event] * 6, SHORTEST * 20);
    this.selected = event;
    const middle = d.start[event] + d.duration[event] / 2;
    this.view(middle - length / 2, middle + length / 2);
    const y = this.middleOf(event);
    if (y !== undefined && (y < this.box.scrollTop || y > this.box.scrollTop + this.box.clientHeight - 60)) {
      this.box.scrollTop = Math.max(0, y - this.box.clientHeight / 2);
    }
  }
}
