'use strict';
// Elements, numbers, frames of charts. Everything that comes from the run is put in as text, never as markup.

const root = document.documentElement;
root.dataset.errors = '0';
addEventListener('error', e => {
  root.dataset.errors = String(Number(root.dataset.errors) + 1);
  root.dataset.error = e.message;
});

const data = JSON.parse(document.getElementById('data').textContent);

/** An element with attributes and children (text or elements). */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter(c => c !== null && c !== undefined));
  return element;
}

/** An SVG element. */
function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** Text in a picture; `to` is its anchor. */
function label(x, y, text, attributes = {}) {
  return draw('text', { x, y, ...attributes }, text);
}

/** A tooltip: the title of an SVG element. */
const hint = text => draw('title', {}, text);

// Numbers.
const group = n => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
const percent = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)}\u00a0%` : '–');
function short(n, digits = 3) {
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  let u = 0;
  while (Math.abs(n) >= 1000 && u < units.length - 1) { n /= 1000; u += 1; }
  const text = n === 0 || (Number.isInteger(n) && u === 0) ? String(n) : n.toPrecision(digits);
  return (text.includes('e') ? String(Math.round(n)) : text) + units[u];
}
const rate = n => (n === 0 ? '0' : n >= 100 ? group(n) : n >= 10 ? n.toFixed(1) : n >= 0.01 ? n.toFixed(2) : n.toExponential(1));
const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
function bytes(n) {
  const units = BYTES;
  let u = 0;
  while (n >= 1024 && u < units.length - 1) { n /= 1024; u += 1; }
  return `${u === 0 ? n : n.toPrecision(n >= 1000 ? 4 : 3)}\u00a0${units[u]}`;
}
const JOULES = [[1, 'pJ'], [1e3, 'nJ'], [1e6, 'µJ'], [1e9, 'mJ'], [1e12, 'J']];
/** Energy from picojoules. */
function joules(pj) {
  if (pj === 0) return '0';
  const [scale, unit] = unitOf(pj, JOULES);
  return `${(pj / scale).toPrecision(3)}\u00a0${unit}`;
}
/** A time from seconds. */
function seconds(s) {
  const [scale, unit] = s >= 1 ? [1, 's'] : s >= 1e-3 ? [1e-3, 'ms'] : s >= 1e-6 ? [1e-6, 'µs'] : [1e-9, 'ns'];
  return `${(s / scale).toPrecision(3)}\u00a0${unit}`;
}
/** A number on an axis: no more digits than it needs. */
const trimmed = v => short(v).replace(/\.0+(?=[kMGTP]?$)|(\.\d*?)0+(?=[kMGTP]?$)/, '$1');
/** Digits behind the point that a step needs: as many as tell neighbours apart, and up to two more if the step has them. */
function digitsOf(step) {
  const least = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return [0, 1].map(more => least + more).find(d => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6) ?? least + 2;
}
/** A number with the digits that its neighbours need, which are `step` away (to three digits of its own without a step). */
function stepped(v, step) {
  const digits = Math.max(0, Math.min(12, step > 0 ? digitsOf(step) : 2 - Math.floor(Math.log10(Math.abs(v) || 100))));
  const [whole, part] = Math.abs(v).toFixed(digits).replace(/(\.\d*?)0+$/, '$1').split('.');
  return (v < 0 ? '−' : '') + whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f') + (part ? `.${part}` : '');
}
/** The largest of the units `[scale, name]` that is not above a number. */
const unitOf = (v, units) => [...units].reverse().find(([scale]) => v >= scale) ?? units[0];
/** A number on an axis whose steps are `step` apart. */
function tick(v, step) {
  const [scale, unit] = unitOf(Math.abs(v), [[1, ''], [1e6, 'M'], [1e9, 'G'], [1e12, 'T'], [1e15, 'P']]);
  return stepped(v / scale, step / scale) + unit;
}
/** Distance of neighbours on an axis: the smallest one. */
const apart = values => values.slice(1).reduce((least, v, i) => Math.min(least, v - values[i]), values.length > 1 ? Infinity : NaN);
const sum = list => list.reduce((a, b) => a + b, 0);

/** Round steps of an axis from 0 to `most`. */
function ticks(most, count) {
  if (!(most > 0)) return [0];
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const out = [];
  for (let i = 0; i * step <= most * 1.0001; i += 1) out.push(i * step);
  return out;
}

let patterns = 0;
/** Fills for series: colours, every second one hatched, every third dotted, so that colour does not carry the meaning alone. */
function paints(svg, names, colours) {
  const defs = draw('defs');
  svg.append(defs);
  return names.map((_, i) => {
    const colour = `var(--s${colours ? colours[i] : i % 9})`;
    if (i % 3 === 0) return colour;
    patterns += 1;
    const id = `paint-${patterns}`;
    const ink = { style: 'stroke:var(--hatch);fill:var(--hatch)', 'stroke-width': 1.2 };
    defs.append(draw('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: i % 3 === 1 ? 'rotate(45)' : null },
      draw('rect', { width: 6, height: 6, style: `fill:${colour}` }),
      i % 3 === 1 ? draw('line', { x1: 0, y1: 0, x2: 0, y2: 6, ...ink }) : draw('circle', { cx: 3, cy: 3, r: 1, ...ink, 'stroke-width': 0 })));
    return `url(#${id})`;
  });
}

/** The key to a picture's fills: small pictures with the same patterns. */
function legend(names, colours) {
  return make('ul', { class: 'legend' }, names.map((name, i) => {
    const svg = draw('svg', { width: 14, height: 14, 'aria-hidden': 'true' });
    const all = paints(svg, names.slice(0, i + 1), colours);
    svg.append(draw('rect', { width: 14, height: 14, rx: 3, style: `fill:${all[i]}` }));
    return make('li', {}, svg, name);
  }));
}

/** A table of numbers and texts. */
function table(heads, rows) {
  return make('div', { class: 'scroll', tabindex: '0' }, make('table', {},
    make('thead', {}, make('tr', {}, heads.map(h => make('th', { scope: 'col' }, h)))),
    make('tbody', {}, rows.map(r => make('tr', {}, r.map(c => make('td', {}, String(c))))))));
}

const charts = [];

/**
 * A chart's frame: title, note, picture, key, table. `paint(width)` returns { svg, key, table: [heads, rows], wide }, or a sentence that says why there
 * is nothing to draw. It is called again when the width or the chosen launch changes.
 */
function chart(id, title, note, paint, options = {}) {
  const frame = make('figure', { id, class: options.wide ? 'wide' : '', 'data-chart': id });
  const canvas = make('div', { class: options.tall ? 'canvas tall' : 'canvas' });
  const below = make('div');
  const controls = options.controls ? options.controls() : null;
  frame.append(make('div', { class: 'top' }, make('h2', {}, title), controls), make('p', { class: 'note' }, note), canvas, below);
  const entry = {
    name: id,
    width: 0,
    redraw() {
      const width = Math.floor(canvas.clientWidth);
      if (width < 50) return;
      entry.width = width;
      const open = below.querySelector('details')?.open;
      const result = paint(width);
      canvas.replaceChildren();
      below.replaceChildren();
      if (typeof result === 'string') {
        canvas.append(make('p', { class: 'empty' }, result));
        frame.dataset.drawn = 'empty';
        return;
      }
      result.svg.setAttribute('role', 'img');
      result.svg.setAttribute('aria-label', `${title}: ${result.summary ?? note}`);
      canvas.append(result.svg);
      if (result.key) below.append(result.key);
      if (result.readout) below.append(result.readout);
      if (result.table) below.append(make('details', { open: open || undefined }, make('summary', {}, 'Figures as a table'), table(...result.table)));
      frame.dataset.drawn = String(result.svg.querySelectorAll('.mark').length);
    },
    resize() { if (Math.floor(canvas.clientWidth) !== entry.width) entry.redraw(); },
  };
  charts.push(entry);
  return frame;
}

/**
 * Horizontal bars of parts. Rows: { name, parts: [value of each series], text, title }. Bars share one scale (`most`, else the longest), or each fills the width (`whole`).
 */
function bars(width, series, rows, options = {}) {
  const narrow = width < 460;
  const names = narrow ? 0 : Math.min(170, 14 + 6.6 * Math.max(...rows.map(r => r.name.length)));
  const texts = narrow ? 0 : 8 + 6.4 * Math.max(...rows.map(r => r.text.length));
  const room = width - names - texts - 2;
  const step = narrow ? 42 : 27;
  const svg = draw('svg', { width, height: rows.length * step + 2 });
  const fills = paints(svg, series, options.colours);
  const most = options.most ?? Math.max(...rows.map(r => sum(r.parts)), 1e-12);
  rows.forEach((row, i) => {
    const y = i * step;
    const top = narrow ? y + 18 : y + 4;
    const height = 18;
    svg.append(label(0, narrow ? y + 13 : y + 17.5, row.name));
    svg.append(label(width, narrow ? y + 13 : y + 17.5, row.text, { 'text-anchor': 'end', class: 'soft' }));
    svg.append(draw('rect', { x: names, y: top, width: room, height, rx: 3, style: 'fill:var(--faint)' }));
    let x = names;
    const whole = options.whole ? sum(row.parts) : most;
    row.parts.forEach((value, k) => {
      const w = whole > 0 ? Math.min(room * value / whole, names + room - x) : 0;
      if (w <= 0) return;
      svg.append(draw('rect', { class: 'mark', x, y: top, width: Math.max(w, 0.75), height, style: `fill:${fills[k]}` },
        hint(`${row.name}, ${series[k]}: ${(options.format ?? group)(value)} (${percent(value, sum(row.parts))})`)));
      x += w;
    });
    if (sum(row.parts) > whole * 1.001) {
      // Longer than the scale: a gap, as in a broken axis.
      const cut = names + room - 26;
      svg.append(draw('path', { d: `M${cut},${top + height + 2}l8,${-height - 4}h7l-8,${height + 4}z`, style: 'fill:var(--panel)' }));
    }
  });
  return svg;
}
