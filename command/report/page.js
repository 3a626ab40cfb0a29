// SPDX-License-Identifier: Apache-2.0
// What a report does where scripts run: tables sort, icicles zoom, the timeline is drawn. Without
// scripts all that is missing is the timeline. Names are only ever set as text.
'use strict';

// ---- tables ----

for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const number = head.classList.contains('n');
      const down = head.getAttribute('aria-sort') === (number ? null : 'ascending') ||
        head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(h => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const rows = [...body.rows].map(row => [key(row), row]);
      rows.sort(([a], [b]) => a === '' ? 1 : b === '' ? -1 :
        (down ? -1 : 1) * (number ? a - b : a < b ? -1 : a > b ? 1 : 0));
      body.append(...rows.map(r => r[1]));
    });
  });
}

// ---- icicles ----

for (const chart of document.querySelectorAll('svg.icicle')) {
  const width = chart.viewBox.baseVal.width;
  const nodes = [...chart.querySelectorAll('.node')].map(g => ({
    g, rect: g.querySelector('rect'), text: g.querySelector('text'),
    name: g.querySelector('title').textContent.split('\n')[0],
    a: +g.dataset.a, b: +g.dataset.b,
  }));
  let shown = [0, 1];
  const zoom = (a, b) => {
    shown = [a, b];
    const scale = width / (b - a);
    for (const n of nodes) {
      const from = Math.max(n.a, a), to = Math.min(n.b, b), wide = (to - from) * scale;
      n.g.style.display = wide < .3 ? 'none' : '';
      if (wide < .3) continue;
      n.rect.setAttribute('x', (from - a) * scale);
      n.rect.setAttribute('width', wide);
      if (!n.text) continue;
      const room = Math.floor((wide - 8) / 6.3);
      n.text.setAttribute('x', (from - a) * scale + 4);
      n.text.textContent = room < 3 ? '' : n.name.length > room ?
        n.name.slice(0, room - 1) + '…' : n.name;
    }
  };
  const toggle = n => n.a === shown[0] && n.b === shown[1] ? zoom(0, 1) : zoom(n.a, n.b);
  for (const n of nodes) {
    n.g.tabIndex = 0;
    n.g.setAttribute('role', 'button');
    n.g.setAttribute('aria-label', n.g.querySelector('title').textContent);
    n.g.addEventListener('click', () => toggle(n));
    n.g.addEventListener('keydown', e => {
      if (e.key === 'Enter' || e.key === ' ') { toggle(n); e.preventDefault(); }
      if (e.key === 'Escape') zoom(0, 1);
    });
  }
  chart.removeAttribute('role');
}

// ---- timeline ----

// Text of a time in nanoseconds, as `profsql export --from` reads it: exact, or in multiples of a
// step.
const timeText = (ns, step = 1) => {
  const [unit, digits] = Math.abs(ns) >= 1e9 ? ['s', 9] : Math.abs(ns) >= 1e6 ? ['ms', 6] :
    Math.abs(ns) >= 1e3 ? ['us', 3] : ['ns', 0];
  const places = Math.max(0, digits - Math.max(0, Math.floor(Math.log10(step))));
  return (ns / 10 ** digits).toLocaleString('en', {maximumFractionDigits: places,
    useGrouping: false}) + ' ' + unit;
};

async function unpack(script) {
  const text = atob(script.textContent), packed = new Uint8Array(text.length);
  for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(+script.dataset.columns)));
  data.columns = new Columns(bytes);
  return data;
}

// Columns of numbers, one after the other: varints of seven bits per byte, the lowest first.
class Columns {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }

  // Fills an array with the next column.
  read(to) {
    const bytes = this.bytes;
    let at = this.at;
    for (let i = 0; i < to.length; i++) {
      let byte = bytes[at++], value = byte & 127;
      for (let by = 128; byte > 127; by *= 128) {
        byte = bytes[at++];
        value += (byte & 127) * by;
      }
      to[i] = value;
    }
    this.at = at;
    return to;
  }

  // Of differences from the previous number, which are 0, -1, 1, -2, ... for 0, 1, 2, 3, ...
  readSums(to) {
    this.read(to);
    for (let i = 0, last = 0; i < to.length; i++)
      to[i] = last += to[i] % 2 ? -(to[i] + 1) / 2 : to[i] / 2;
    return to;
  }
}

// The events of one run.
class Timeline {
  constructor(data, canvas, all) {
    this.run = data.run;
    this.names = data.names;
    this.details = data.details;
    this.canvas = canvas;
    this.view = canvas.parentElement;  // scrolls the lines under the canvas, which stays in place
    this.room = canvas.nextElementSibling;
    this.context = canvas.getContext('2d');
    this.all = all;
    this.start = data.start;
    this.end = Math.max(data.end, data.start + 1);
    const lines = data.lines.map(line => this.read(line, data.columns));
    this.lines = [...lines.filter(line => line.device), ...lines.filter(line => !line.device)];
    this.flows = new Map();
    for (const [id, d] of Object.entries(this.details))
      for (const flow of [d.i, d.o]) if (flow) {
        if (!this.flows.has(flow)) this.flows.set(flow, []);
        this.flows.get(flow).push(+id);
      }
    this.place = new Map();
    this.lines.forEach((line, l) => {
      for (let i = 0; i < line.n; i++)
        if (this.details[line.id[i]]) this.place.set(line.id[i], [l, i]);
    });
    this.from = this.start; this.to = this.end; this.selected = null; this.found = null;
    this.lay();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  // The events of a line.
  read(line, columns) {
    const n = line.n, depths = [];
    const r = {title: line.name, plane: line.plane, device: line.device, n, bins: line.bins,
      left: line.left,
      start: columns.readSums(new Float64Array(n)), length: columns.read(new Float64Array(n)),
      name: columns.read(new Uint32Array(n)), depth: columns.read(new Uint32Array(n)),
      id: columns.readSums(new Float64Array(n)), rows: []};
    for (const depth of r.depth) depths[depth] = (depths[depth] || 0) + 1;
    // Rows of one depth are sorted and do not overlap: what is visible is found by bisection. A
    // depth of which the page has no event has no row.
    depths.forEach((count, depth) => { r.rows[depth] = new Uint32Array(count); });
    r.depths = Math.max(depths.length, 1);
    depths.fill(0);
    for (let i = 0; i < n; i++) r.rows[r.depth[i]][depths[r.depth[i]]++] = i;
    return r;
  }

  lay() {
    let y = 22, plane = null;
    for (const line of this.lines) {
      line.head = line.plane !== plane ? y : null;
      if (line.head !== null) { plane = line.plane; y += 20; }
      line.y = y;
      y += line.depths * 16 + 18;
    }
    this.height = y + 8;
  }

  get top() { return this.view.scrollTop; }
  set top(y) { this.view.scrollTop = y; }

  // The place of a row of events, or of its line's title, in the canvas.
  y(line, depth = -1) { return line.y - this.top + 16 + depth * 16; }

  x(ns) { return (ns - this.from) / (this.to - this.from) * this.width; }
  ns(x) { return this.from + x / this.width * (this.to - this.from); }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  paint() {
    const c = this.context, ratio = devicePixelRatio || 1, style = getComputedStyle(document.body);
    const value = name => style.getPropertyValue(name).trim();
    this.width = this.canvas.clientWidth;
    this.seen = this.canvas.clientHeight;
    this.room.style.height = Math.max(0, this.height - this.seen) + 'px';
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.seen * ratio;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.colours = {ink: value('--ink'), soft: value('--soft'), rule: value('--rule'),
      paper: value('--paper'), panel: value('--panel'), alert: value('--alert')};
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, this.width, this.seen);
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    for (const line of this.lines) {
      if (this.y(line, line.depths) < 0 || this.y(line) - 20 > this.seen) continue;
      this.paintLine(line);
    }
    this.paintFlows();
    this.paintAxis();
    this.paintBelow();
  }

  // Says how many lines are below the visible part.
  paintBelow() {
    const c = this.context, n = this.lines.filter(line => this.y(line, 1) > this.seen).length;
    if (!n) return;
    c.fillStyle = this.colours.panel;
    c.fillRect(0, this.seen - 18, this.width, 18);
    c.fillStyle = this.colours.ink;
    c.fillText('↓ ' + n + (n > 1 ? ' lines' : ' line') + ' below', 6, this.seen - 9);
  }

  paintLine(line) {
    const c = this.context, y = this.y(line);
    if (line.head !== null) {
      c.fillStyle = this.colours.panel;
      c.fillRect(0, line.head - this.top, this.width, 18);
      c.fillStyle = this.colours.ink;
      c.fillText(line.plane, 6, line.head - this.top + 9, this.width - 12);
    }
    this.paintBins(line, y + 16);
    const last = Math.min(line.depths, (this.seen - y) / 16);
    for (let depth = Math.max(0, Math.floor(-y / 16) - 1); depth < last; depth++)
      if (line.rows[depth]) this.paintRow(line, line.rows[depth], this.y(line, depth));
    // The title stays in sight as long as a row does.
    const at = Math.max(y, Math.min(20, this.y(line, line.depths) - 16));
    c.fillStyle = this.colours.paper;
    c.fillRect(0, at, this.width, 15);
    c.fillStyle = this.colours.soft;
    c.fillText(line.title + (line.left ? ' (' + line.left.toLocaleString('en') +
      ' short events only as density)' : ''), 6, at + 7, this.width - 12);
  }

  // The share of each part of the time that events take which are not in the page.
  paintBins(line, y) {
    if (!line.bins) return;
    const c = this.context, n = line.bins.length, part = (this.end - this.start) / n;
    c.fillStyle = this.colours.soft;
    for (let i = 0; i < n; i++) {
      if (!line.bins[i]) continue;
      const x = this.x(this.start + part * i), to = this.x(this.start + part * (i + 1));
      if (to < 0 || x > this.width) continue;
      c.globalAlpha = .15 + line.bins[i] / 100 * .5;
      c.fillRect(x, y, Math.max(to - x, 1), 14);
    }
    c.globalAlpha = 1;
  }

  paintRow(line, row, y) {
    const c = this.context;
    let low = 0, high = row.length;
    while (low < high) {
      const middle = low + high >> 1, e = row[middle];
      if (line.start[e] + line.length[e] < this.from) low = middle + 1; else high = middle;
    }
    let filled = -1;
    for (let k = low; k < row.length; k++) {
      const e = row[k], x = this.x(line.start[e]);
      if (x > this.width) break;
      const to = this.x(line.start[e] + line.length[e]);
      if (to < filled) {
        // Many events in a pixel: go to the first after it.
        let a = k, b = row.length;
        const until = this.ns(filled);
        while (a < b) {
          const middle = a + b >> 1, m = row[middle];
          if (line.start[m] + line.length[m] < until) a = middle + 1; else b = middle;
        }
        k = Math.max(k, a - 1);
        continue;
      }
      const wide = Math.max(to - x, .7);
      c.globalAlpha = this.found && !this.isFound(line, e) ? .25 : 1;
      c.fillStyle = palette[hash(this.names[line.name[e]])];
      c.fillRect(x, y, wide, 14);
      if (this.selected && this.selected[0] === line && this.selected[1] === e) {
        c.globalAlpha = 1;
        c.strokeStyle = this.colours.ink;
        c.lineWidth = 2;
        c.strokeRect(x, y, Math.max(wide, 2), 14);
      }
      filled = Math.floor(x + wide) + .5;
      const left = Math.max(x, 0), space = Math.min(to, this.width) - left - 6;
      if (space > 24) {
        c.fillStyle = '#fff';
        const room = Math.floor(space / 6), name = this.names[line.name[e]];
        c.fillText(name.length > room ? name.slice(0, room - 1) + '…' : name, left + 3, y + 7.5);
      }
    }
    c.globalAlpha = 1;
  }

  paintAxis() {
    const c = this.context, span = this.to - this.from;
    const most = Math.max(2, this.width / 110), least = 10 ** Math.floor(Math.log10(span / most));
    const step = Math.max(1, [1, 2, 5, 10].map(n => n * least).find(n => span / n <= most));
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, this.width, 20);
    c.strokeStyle = this.colours.rule;
    c.lineWidth = 1;
    for (let i = 0, first = Math.ceil(this.from / step); i <= most; i++) {
      const at = (first + i) * step, x = this.x(at);
      c.beginPath(); c.moveTo(x, 0); c.lineTo(x, this.seen); c.globalAlpha = .5; c.stroke();
      c.globalAlpha = 1;
      c.fillStyle = this.colours.soft;
      const text = timeText(at, step), wide = c.measureText(text).width;
      if (x + 3 + wide <= this.width) c.fillText(text, x + 3, 10);
    }
  }

  middle(line, e) {
    return [this.x(line.start[e]), this.y(line, line.depth[e]) + 7];
  }

  paintFlows() {
    if (!this.selected) return;
    const c = this.context, d = this.details[this.selected[0].id[this.selected[1]]];
    if (!d) return;
    c.strokeStyle = this.colours.alert;
    c.lineWidth = 1.5;
    for (const flow of [d.i, d.o]) for (const id of this.flows.get(flow) || []) {
      const there = this.place.get(id);
      if (!there || id === this.selected[0].id[this.selected[1]]) continue;
      const [x1, y1] = this.middle(...this.selected);
      const [x2, y2] = this.middle(this.lines[there[0]], there[1]);
      c.beginPath(); c.moveTo(x1, y1);
      c.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2); c.stroke();
    }
  }

  // Shows a span of time. All timelines have the same scale; the others keep their middle.
  look(from, span) {
    const longest = this.all.span;
    span = Math.min(Math.max(span, 10), longest);
    for (const t of this.all.timelines) {
      const at = t === this ? from : (t.from + t.to - span) / 2;
      t.from = Math.max(t.start, Math.min(at, t.start + longest - span));
      t.to = t.from + span;
      t.draw();
    }
  }

  zoom(factor, x) {
    const at = this.ns(x), share = x / this.width;
    const span = Math.min(Math.max((this.to - this.from) * factor, 10), this.all.span);
    this.look(at - share * span, span);
  }

  move(share) {
    const span = this.to - this.from;
    this.look(this.from + share * span, span);
  }

  // The event at a point: [line, index].
  at(x, y) {
    const ns = this.ns(x), slack = (this.to - this.from) / this.width * 2;
    for (const line of this.lines) {
      const row = line.rows[Math.floor((y - this.y(line, 0)) / 16)];
      if (!row) continue;
      let low = 0, high = row.length;
      while (low < high) {
        const middle = low + high >> 1, e = row[middle];
        if (line.start[e] + line.length[e] < ns - slack) low = middle + 1; else high = middle;
      }
      if (low < row.length && line.start[row[low]] <= ns + slack) return [line, row[low]];
    }
    return null;
  }

  show(place) {
    const output = this.all.output;
    for (const t of this.all.timelines) {
      t.selected = t === this ? place : null;
      t.draw();
    }
    output.replaceChildren();
    if (place) {
      const [line, e] = place, list = document.createElement('dl'), d = this.details[line.id[e]];
      const add = (name, text) => {
        const dt = document.createElement('dt'), dd = document.createElement('dd');
        dt.textContent = name; dd.textContent = text; list.append(dt, dd);
      };
      add('event', this.names[line.name[e]]);
      add('on', this.prefix + line.plane + ' / ' + line.title);
      add('start', timeText(line.start[e]));
      add('duration', timeText(line.length[e]));
      add('event_id', line.id[e]);
      for (const [name, value] of Object.entries(d ? d.a : {})) add(name, value);
      if (!d)
        add('arguments', 'in the tables: this page has those of ' + this.withDetails() +
          ', the longest of each line. This SQL shows them:');
      add('SQL', 'SELECT *, stats' + this.fromRun() + 'event_id = ' + line.id[e]);
      output.append(list);
      for (const flow of d ? [d.i, d.o] : []) for (const id of this.flows.get(flow) || []) {
        const there = this.place.get(id);
        if (!there || id === line.id[e]) continue;
        const button = document.createElement('button'), to = this.lines[there[0]];
        button.textContent = (flow === d.i ? 'from ' : 'to ') + this.names[to.name[there[1]]];
        button.addEventListener('click', () => this.go([to, there[1]]));
        output.append(button, ' ');
      }
    }
  }

  go(place) {
    const [line, e] = place, span = Math.max(line.length[e] * 8, 1000);
    this.look(line.start[e] + line.length[e] / 2 - span / 2, span);
    this.top += this.y(line, line.depth[e]) - this.seen / 2;
    this.show(place);
  }

  withDetails() { return this.place.size.toLocaleString('en') + ' events'; }

  // SQL up to a condition for events of the run.
  fromRun() { return " FROM trace_events('" + this.run.replaceAll("'", "''") + "') WHERE "; }

  // Marks the events found: the text is in their name, in the name of their line or plane, or in
  // their arguments, if the page has them. Returns [timeline, line, events] of each line.
  find(text) {
    const has = name => name.toLowerCase().includes(text);
    this.found = text ? {
      names: this.names.map(has),
      lines: new Set(this.lines.filter(line => has(line.plane + ' / ' + line.title))),
      ids: new Set([...this.place.keys()].filter(id => Object.entries(this.details[id].a).some(
        ([name, value]) => has(name + ': ' + value)))),
    } : null;
    this.draw();
    return this.lines.map(line => {
      let n = 0;
      const events = new Uint32Array(text ? line.n : 0);
      for (let i = 0; i < events.length; i++) if (this.isFound(line, i)) events[n++] = i;
      return [this, line, events.slice(0, n)];
    });
  }

  isFound(line, e) {
    const found = this.found;
    return found.names[line.name[e]] || found.lines.has(line) || found.ids.has(line.id[e]);
  }

  listen() {
    const canvas = this.canvas, pointers = new Map();
    let grip = null;
    // The middle of the pointers, and how far apart two are, which zooms.
    const middle = () => {
      const [a, b = a] = pointers.values(), apart = Math.hypot(a.x - b.x, a.y - b.y);
      return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: b === a ? 1 : Math.max(apart, 20)};
    };
    const take = moved => {
      grip = pointers.size ? {...middle(), moved, from: this.from, span: this.to - this.from,
        top: this.top} : null;
    };
    this.view.addEventListener('scroll', () => this.draw());
    canvas.addEventListener('wheel', e => {
      const across = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
      const by = e.deltaMode ? 16 : 1;
      if (e.ctrlKey || e.metaKey || e.altKey)
        this.zoom(1.01 ** Math.max(-30, Math.min(e.deltaY * by, 30)), e.offsetX);
      else if (across && this.to - this.from < this.all.span)
        this.move((e.deltaX || e.deltaY) * by / this.width);
      else return;
      e.preventDefault();
    }, {passive: false});
    canvas.addEventListener('pointerdown', e => {
      pointers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
      take(pointers.size > 1);
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', e => {
      const pointer = pointers.get(e.pointerId);
      if (!pointer) {
        const place = this.at(e.offsetX, e.offsetY);
        canvas.title = place ? this.names[place[0].name[place[1]]] + '\n' +
          timeText(place[0].length[place[1]]) : '';
        return;
      }
      pointer.x = e.offsetX; pointer.y = e.offsetY;
      const {x, y, apart} = middle(), span = grip.span * grip.apart / apart;
      if (Math.abs(x - grip.x) + Math.abs(y - grip.y) > 3) grip.moved = true;
      if (!grip.moved) return;
      // A finger scrolls without this script.
      if (e.pointerType !== 'touch') this.top = grip.top + grip.y - y;
      this.look(grip.from + (grip.x * grip.span - x * span) / this.width, span);
    });
    const release = e => {
      if (e.type === 'pointerup' && grip && !grip.moved) this.show(this.at(e.offsetX, e.offsetY));
      pointers.delete(e.pointerId);
      take(true);
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('touchmove', e => { if (e.touches.length > 1) e.preventDefault(); },
      {passive: false});
    canvas.addEventListener('keydown', e => {
      const closer = () => this.zoom(.6, this.width / 2);
      const wider = () => this.zoom(1 / .6, this.width / 2);
      const act = {
        ArrowLeft: () => this.move(-.2), ArrowRight: () => this.move(.2), a: () => this.move(-.2),
        d: () => this.move(.2), w: closer, s: wider, '+': closer, '-': wider,
        ArrowUp: () => this.toRow(-1), ArrowDown: () => this.toRow(1),
        PageUp: () => this.toLine(-1), PageDown: () => this.toLine(1),
        0: () => this.all.whole(),
        Escape: () => this.show(null),
        n: () => this.step(1), p: () => this.step(-1),
      }[e.key];
      if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { act(); e.preventDefault(); }
    });
  }

  // The next or previous event of the same row.
  step(by) {
    if (!this.selected) return this.toLine(0);
    const [line, e] = this.selected, row = line.rows[line.depth[e]], i = row.indexOf(e) + by;
    if (i >= 0 && i < row.length) this.go([line, row[i]]);
  }

  // The row above or below, also of the next line.
  toRow(by) {
    if (!this.selected) return this.toLine(0);
    const [line, e] = this.selected;
    let depth = line.depth[e] + by;
    while (depth >= 0 && depth < line.depths && !line.rows[depth]) depth += by;
    if (line.rows[depth]) this.choose(line, depth); else this.toLine(by, by < 0);
  }

  // The next or previous line that has events; the first visible one if none is selected. Its first
  // or last row.
  toLine(by, last) {
    const lines = this.lines.filter(line => line.n);
    const i = this.selected ? lines.indexOf(this.selected[0]) + by :
      lines.findIndex(line => this.y(line, line.depths) > 40);
    const line = lines[i];
    if (line) this.choose(line, last ? line.depths - 1 : line.rows.findIndex(row => row));
  }

  // Selects the event of a row that is nearest to the selected one, or to the middle.
  choose(line, depth) {
    const row = line.rows[depth], middle = (of, e) => of.start[e] + of.length[e] / 2;
    const ns = this.selected ? Math.max(this.from, Math.min(middle(...this.selected), this.to)) :
      (this.from + this.to) / 2;
    let low = 0, high = row.length - 1;
    while (low < high) {
      const at = low + high >> 1;
      if (line.start[row[at]] + line.length[row[at]] < ns) low = at + 1; else high = at;
    }
    const near = e => Math.max(line.start[e] - ns, ns - line.start[e] - line.length[e], 0);
    const e = low && near(row[low - 1]) < near(row[low]) ? row[low - 1] : row[low];
    const span = this.to - this.from, y = this.y(line, depth);
    if (line.start[e] > this.to || line.start[e] + line.length[e] < this.from)
      this.look(middle(line, e) - span / 2, span);
    if (y < 40 || y > this.seen - 40) this.top += y - this.seen / 2;
    this.show([line, e]);
  }
}

// The timelines of the page, with the same scale, and what they share. The second one is the
// baseline's.
class Timelines {
  constructor(data, root) {
    this.output = root.querySelector('#event');
    this.status = root.querySelector('#found');
    this.printed = root.querySelector('#printed');
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    this.hits = []; this.hit = -1; this.n_hits = 0;
    const canvases = root.querySelectorAll('canvas');
    this.timelines = data.map((d, i) => new Timeline(d, canvases[i], this));
    this.timelines.forEach((t, i) => { t.prefix = i ? 'baseline ' : ''; });
    this.span = Math.max(...this.timelines.map(t => t.end - t.start));
    this.whole();
    const search = root.querySelector('input');
    search.addEventListener('input', () => this.find(search.value));
    search.addEventListener('keydown', e => {
      if (e.key === 'Enter') this.next(e.shiftKey ? -1 : 1);
    });
    const zoom = factor => this.timelines[0].zoom(factor, this.timelines[0].width / 2);
    root.querySelector('#closer').addEventListener('click', () => zoom(.6));
    root.querySelector('#wider').addEventListener('click', () => zoom(1 / .6));
    root.querySelector('#whole').addEventListener('click', () => this.whole());
    root.querySelector('#next').addEventListener('click', () => this.next(1));
    root.querySelector('#previous').addEventListener('click', () => this.next(-1));
  }

  // Draws what is visible in light colours, for paper.
  print(on) {
    document.documentElement.classList.toggle('printed', on);
    for (const t of this.timelines) t.paint();
    const {from, to} = this.timelines[0], step = 10 ** Math.floor(Math.log10((to - from) / 100));
    this.printed.textContent = 'The part of the timeline that was on the screen: ' +
      timeText(from, step) + ' to ' + timeText(to, step) + '.';
  }

  whole() {
    for (const t of this.timelines) t.look(t.start, this.span);
  }

  find(text) {
    const hits = this.timelines.map(t => t.find(text.toLowerCase())), [run] = this.timelines;
    const counts = hits.map(of => of.reduce((sum, [, , events]) => sum + events.length, 0));
    this.hits = hits.flat(); this.hit = -1;
    this.n_hits = counts.reduce((sum, n) => sum + n, 0);
    this.status.textContent = !text ? '' : counts.map(n => n.toLocaleString('en') +
      ' events').join(', baseline ') + '. ' +
      'Searched: names of events, lines and planes; arguments of ' +
      this.timelines.map(t => t.withDetails()).join(', baseline ') + '.' + (this.n_hits ? '' :
      ' In all arguments: SELECT *, stats' + run.fromRun() +
      "stats LIKE '%" + text.replaceAll("'", "''") + "%'");
  }

  next(by) {
    if (!this.n_hits) return;
    this.hit = (Math.max(this.hit, by < 0 ? 0 : -1) + by + this.n_hits) % this.n_hits;
    this.status.textContent = (this.hit + 1) + ' of ' + this.n_hits.toLocaleString('en');
    let i = this.hit;
    for (const [timeline, line, events] of this.hits) {
      if (i < events.length && i >= 0) timeline.go([line, events[i]]);
      i -= events.length;
    }
  }
}

const palette = ['#2c6cb5', '#1b7872', '#4d7a2e', '#7a55b3', '#7d6212', '#a13f9f', '#b03a5b',
  '#b3541e'];
const hashes = new Map();
function hash(name) {
  let h = hashes.get(name);
  if (h !== undefined) return h;
  h = 7;
  for (let i = 0; i < name.length; i++) h = h * 31 + name.charCodeAt(i) >>> 0;
  h = /nccl|rccl|all-?reduce|all-?gather|collective|reduce-?scatter/i.test(name) ? 7 : h % 6;
  hashes.set(name, h);
  return h;
}

const packed = [...document.querySelectorAll('script.events')];
if (packed.length && window.DecompressionStream) {
  const root = document.getElementById('timeline');
  const begun = performance.now();
  Promise.all(packed.map(unpack)).then(data => {
    root.querySelector('.script').hidden = false;
    window.timelines = new Timelines(data, root);
    requestAnimationFrame(() => {
      performance.mark('timeline');
      document.documentElement.dataset.ready = Math.round(performance.now() - begun);
    });
  });
} else {
  document.documentElement.dataset.ready = 0;
}
