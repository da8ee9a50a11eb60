
// Pages of `heddle sweep`, `compare`, `ablate` and `validate`: ratios, planes of objectives, stacked parts, curves, tables. What there is to draw is in `data.choices`.

const state = { choice: 0, objective: 0, axes: [0, 1], colour: undefined };
const chosen = () => data.choices[state.choice];
const anew = name => charts.filter(c => c.name === name).forEach(c => c.redraw());

/** A value with its unit, which the counter's name tells. */
function amount(name, v) {
  if (v === null || v === undefined) return '–';
  if (/_pj$|^energy_pj\./.test(name)) return joules(v);
  if (/bytes$/.test(name)) return bytes(v);
  return Number.isInteger(v) ? group(v) : rate(v);
}
/** The same on an axis whose steps are `step` apart. */
function mark(name, v, step) {
  const units = /_pj$|^energy_pj\./.test(name) ? JOULES : /bytes$/.test(name) ? BYTES.map((unit, i) => [1024 ** i, unit]) : null;
  if (!units) return tick(v, step);
  const [scale, unit] = unitOf(v, units);
  return v === 0 ? '0' : `${stepped(v / scale, step / scale)}\u00a0${unit}`;
}
const times = r => (r === null || r === undefined ? '–' : `×\u2009${r >= 100 ? group(r) : r >= 10 ? r.toFixed(1) : r >= 0.1 ? r.toFixed(3) : r.toPrecision(2)}`);
/** Better, worse or neither; `good` is 1 where more is better, -1 where less is, 0 where neither. */
function verdict(ratio, good) {
  if (!good || ratio === null || Math.abs(ratio - 1) < 0.0005) return '';
  return (ratio > 1) === (good > 0) ? 'good' : 'bad';
}

function pick(name, options, value, change) {
  return make('label', { class: 'soft' }, `${name} `, make('select', { 'aria-label': name, onchange: e => change(Number(e.target.value)) },
    options.map(([v, text]) => make('option', { value: v, selected: v === value }, text))));
}

/** Round factors on both sides of 1, at least `apart` pixels from each other. */
function factors(low, high, at, apart) {
  const fine = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 1e4, 1e5, 1e6, 1e9];
  const out = [1];
  for (const side of [1, -1]) {
    let last = at(1);
    const end = side > 0 ? high : 1 / low;
    // The first step that has room, then all that have.
    for (const f of fine) {
      const v = side > 0 ? f : 1 / f;
      if (f > end * 1.0001 || Math.abs(at(v) - last) < apart) continue;
      out.push(v);
      last = at(v);
    }
  }
  return out.sort((a, b) => a - b);
}

/** Bars from 1 to each ratio, on a logarithmic scale; a row may have single values as dots, or a range as a whisker. Rows: { name, ratio, dots, low, high } or { heading }. */
function ratios(width, rows, good) {
  const all = rows.flatMap(r => [r.ratio, r.low, r.high, ...(r.dots ?? []).map(d => d[1])]).filter(v => v > 0);
  if (all.length === 0) return null;
  const narrow = width < 560;
  const longest = Math.max(...rows.map(r => (r.name ?? '').length));
  const names = narrow ? 0 : Math.min(width * 0.4, 16 + 6.7 * longest);
  const texts = 66;
  const left = names + 14, right = width - (narrow ? 14 : texts + 6);
  const low = Math.min(...all, 1 / 1.02), high = Math.max(...all, 1.02);
  const at = v => left + Math.log(v / low) / Math.log(high / low) * (right - left);
  const step = narrow ? 40 : 25;
  const heading = 28;
  const places = [];
  let y = 2;
  for (const r of rows) { places.push(y); y += r.heading ? heading : step; }
  const height = y + 22;
  const svg = draw('svg', { width, height });
  const steps = factors(low, high, at, 46);
  for (const v of steps) {
    svg.append(draw('line', { class: v === 1 ? 'one' : 'rule', x1: at(v), x2: at(v), y1: 0, y2: y + 2 }));
    const digits = v < 1 ? Math.max(2, 1 - Math.floor(Math.log10(v))) : 2;
    svg.append(label(at(v), y + 17, `×${v >= 1000 ? short(v, 1) : Number(v.toFixed(digits))}`, { 'text-anchor': at(v) > width - 18 ? 'end' : at(v) < 18 ? 'start' : 'middle', class: 'soft' }));
  }
  rows.forEach((r, i) => {
    const top = places[i];
    if (r.heading) { svg.append(label(0, top + 20, r.heading, { class: 'heading halo' })); return; }
    const cut = Math.floor((narrow ? width - texts : names - 8) / 6.7);
    const shown = r.name.length > cut ? `${r.name.slice(0, cut - 1)}…` : r.name;
    const base = narrow ? top + 14 : top + 17;
    const words = label(0, base, shown, { class: 'halo' });
    if (shown !== r.name) words.append(hint(r.name));
    svg.append(words, label(width, base, r.text ?? times(r.ratio), { 'text-anchor': 'end', class: verdict(r.ratio, good) || 'soft' }));
    const bar = narrow ? top + 20 : top + 5;
    const middle = bar + 8;
    if (r.ratio > 0) {
      const [a, b] = [Math.min(at(1), at(r.ratio)), Math.max(at(1), at(r.ratio))];
      svg.append(draw('rect', { class: `mark bar ${verdict(r.ratio, good)}`, x: a, y: bar, width: Math.max(b - a, 1.5), height: 16, rx: 1.5 }, hint(`${r.name}: ${times(r.ratio)}`)));
    }
    if (r.low > 0 && r.high > r.low) {
      svg.append(draw('path', { class: 'whisker', d: `M${at(r.low)},${middle}H${at(r.high)}M${at(r.low)},${middle - 4}v8M${at(r.high)},${middle - 4}v8` }, hint(`${r.name}: from ${times(r.low)} to ${times(r.high)}`)));
    }
    for (const [name, v] of r.dots ?? []) {
      if (v > 0) svg.append(draw('circle', { class: 'single', cx: at(v), cy: middle, r: 2.6 }, hint(`${name}: ${times(v)}`)));
    }
  });
  return svg;
}

function ratioChart(b) {
  return chart(b.id, b.title, b.note, width => {
    const svg = ratios(width, b.rows, b.good);
    return svg === null ? 'No ratio is known.' : { svg, summary: b.rows.slice(0, 4).map(r => `${r.name} ${times(r.ratio)}`).join(', ') };
  }, { wide: b.wide });
}

/** What each value of each axis does to an objective. */
function effectsChart(b) {
  const names = data.objectives.map(o => o.name);
  const controls = () => (names.length < 2 ? null : pick('effect on', names.map((n, i) => [i, n]), state.objective, v => { state.objective = v; anew(b.id); }));
  return chart(b.id, b.title, b.note, width => {
    const rows = b.of[state.objective].flatMap(setting => {
      const flat = setting.rows.every(r => !r.high || (Math.abs(r.low - 1) < 5e-5 && Math.abs(r.high - 1) < 5e-5));
      return [{ heading: flat ? `${setting.name}: no difference` : setting.name }, ...(flat ? [] : setting.rows)];
    });
    const svg = ratios(width, rows, data.objectives[state.objective].maximise ? 1 : -1);
    if (svg === null) return 'No setting makes a difference, or none has two values that can be compared.';
    return {
      svg, summary: names[state.objective],
      table: [['value', 'geometric mean', 'least', 'most', 'pairs'], rows.filter(r => !r.heading).map(r => [r.name, times(r.ratio), times(r.low), times(r.high), r.pairs ?? '–'])],
    };
  }, { wide: true, controls });
}

/** Round values within a scale. */
function scaleTicks(low, high, logarithmic, count) {
  if (!logarithmic) {
    const raw = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
    const first = Math.ceil(low / step - 1e-9);
    return [...Array(Math.max(0, Math.floor(high / step + 1e-9) - first + 1)).keys()].map(i => (first + i) * step);
  }
  const out = [];
  for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); d += 1) out.push(...[1, 2, 5].map(m => m * 10 ** d));
  const inside = out.filter(v => v >= low && v <= high);
  return inside.length > count + 2 ? inside.filter(v => Math.abs(Math.log10(v) % 1) < 1e-9) : inside;
}

function scale(values, start, end) {
  let low = Math.min(...values), high = Math.max(...values);
  const logarithmic = low > 0 && high / low > 20;
  if (low === high) { const room = low === 0 ? 1 : Math.abs(low) * 0.05; low -= room; high += room; }
  else if (logarithmic) { const room = (high / low) ** 0.04; low /= room; high *= room; }
  else { const room = (high - low) * 0.05; low -= room; high += room; }
  const part = v => (logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  return { at: v => start + part(v) * (end - start), low, high, logarithmic };
}

const SHAPES = [
  r => `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`,
  r => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  r => `M0,${-1.25 * r}L${1.15 * r},${0.8 * r}H${-1.15 * r}z`,
  r => `M0,${-1.35 * r}L${1.35 * r},0L0,${1.35 * r}L${-1.35 * r},0z`,
  r => `M0,${1.25 * r}L${1.15 * r},${-0.8 * r}H${-1.15 * r}z`,
];
const shape = (i, r) => SHAPES[i % SHAPES.length](r);

/** Values of a setting, in the order of the sweep. */
const valuesOf = axis => [...new Set(data.configurations.map(c => c[axis]))];

function planeChart(b) {
  const objectives = data.objectives;
  const names = objectives.map((o, i) => [i, o.name]);
  const varied = data.settings.map((n, i) => [i, n]).filter(([i]) => valuesOf(i).length > 1);
  if (state.colour === undefined) state.colour = varied.length ? varied[0][0] : -1;
  const controls = () => make('span', { class: 'controls' },
    objectives.length > 2 ? [pick('across', names, state.axes[0], v => { state.axes[0] = v; anew(b.id); }), pick('up', names, state.axes[1], v => { state.axes[1] = v; anew(b.id); })] : null,
    varied.length ? pick('colours by', [[-1, 'none'], ...varied], state.colour, v => { state.colour = v; anew(b.id); }) : null);
  return chart(b.id, b.title, b.note, width => {
    if (b.points.length === 0) return 'No configuration has a value for each objective.';
    const [ox, oy] = state.axes;
    const height = Math.round(Math.max(280, Math.min(460, width * 0.62)));
    const values = k => b.points.map(p => p[2][k]);
    const left = 62, bottom = height - 46;
    const x = scale(values(ox), left, width - 12), y = scale(values(oy), bottom, 24);
    const svg = draw('svg', { width, height, tabindex: '0', style: 'cursor:crosshair' });
    let last = -Infinity;
    const across = scaleTicks(x.low, x.high, x.logarithmic, Math.max(2, width / 110));
    for (const t of across) {
      svg.append(draw('line', { class: 'axis', x1: x.at(t), x2: x.at(t), y1: bottom, y2: 24 }));
      if (x.at(t) - last < 58) continue;
      last = x.at(t);
      svg.append(label(Math.min(x.at(t), width - 26), bottom + 16, mark(objectives[ox].name, t, apart(across)), { 'text-anchor': 'middle', class: 'soft' }));
    }
    const up = scaleTicks(y.low, y.high, y.logarithmic, 6);
    for (const t of up) {
      svg.append(draw('line', { class: 'axis', x1: left, x2: width - 12, y1: y.at(t), y2: y.at(t) }),
        label(left - 6, y.at(t) + 4, mark(objectives[oy].name, t, apart(up)), { 'text-anchor': 'end', class: 'soft' }));
    }
    const title = (o, s) => `${o.name}, ${o.maximise ? 'more' : 'less'} is better${s.logarithmic ? ', logarithmic' : ''}`;
    svg.append(label(width - 12, height - 8, `${title(objectives[ox], x)} →`, { 'text-anchor': 'end' }), label(2, 13, `↑ ${title(objectives[oy], y)}`, {}));
    const best = b.points.filter(p => p[1]);
    // With more objectives the front is no line in this plane.
    if (objectives.length === 2 && best.length > 1) {
      const line = [...best].sort((a, c) => a[2][ox] - c[2][ox] || a[2][oy] - c[2][oy]);
      const d = line.map((p, i) => (i === 0 ? `M${x.at(p[2][ox])},${y.at(p[2][oy])}` : `H${x.at(p[2][ox])}V${y.at(p[2][oy])}`)).join('');
      svg.append(draw('path', { class: 'front', d }));
    }
    const kinds = state.colour < 0 ? [] : valuesOf(state.colour);
    const ring = draw('circle', { class: 'ring', r: 9, visibility: 'hidden' });
    const describe = p => `${data.settings.map((n, i) => `${n} ${data.configurations[p[0]][i]}`).join(', ')}: ${objectives.map((o, i) => `${o.name} ${amount(o.name, p[2][i])}`).join(', ')}`;
    for (const p of [...b.points.filter(p => !p[1]), ...best]) {
      const kind = kinds.length ? kinds.indexOf(data.configurations[p[0]][state.colour]) : 0;
      svg.append(draw('path', {
        class: `mark point${p[1] ? ' best' : ''}`, transform: `translate(${x.at(p[2][ox]).toFixed(1)},${y.at(p[2][oy]).toFixed(1)})`, d: shape(kind, p[1] ? 5 : 3.6),
        style: kinds.length ? `fill:var(--s${kind % 9})` : null,
      }, hint(describe(p))));
    }
    svg.append(ring);
    const readout = make('p', { class: 'readout' }, 'Point at a configuration for its settings.');
    const show = e => {
      const box = svg.getBoundingClientRect();
      const [px, py] = [e.clientX - box.left, e.clientY - box.top];
      const distance = p => Math.hypot(x.at(p[2][ox]) - px, y.at(p[2][oy]) - py) - (p[1] ? 2 : 0);
      const near = b.points.reduce((a, p) => (distance(p) < distance(a) ? p : a));
      if (distance(near) > 40) { ring.setAttribute('visibility', 'hidden'); return; }
      fill(ring, { cx: x.at(near[2][ox]), cy: y.at(near[2][oy]), visibility: 'visible' }, []);
      readout.replaceChildren(make('b', {}, near[1] ? 'Pareto-optimal: ' : ''), describe(near));
    };
    svg.addEventListener('pointermove', show);
    svg.addEventListener('pointerdown', show);
    const key = kinds.length ? make('ul', { class: 'legend' }, kinds.map((name, i) => make('li', {},
      draw('svg', { width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' }, draw('path', { d: shape(i, 4.5), style: `fill:var(--s${i % 9})` })), `${data.settings[state.colour]} ${name}`))) : null;
    return { svg, key, readout, summary: `${best.length} of ${b.points.length} configurations are Pareto-optimal` };
  }, { wide: true, controls });
}

/** Parts of several things, one above the other. */
function stackChart(b) {
  return chart(b.id, b.title, b.note, width => {
    const rows = b.rows.map(r => ({ name: r.name, parts: r.parts, text: amount(b.counter, sum(r.parts)) }));
    if (sum(rows.flatMap(r => r.parts)) === 0) return 'Nothing was counted.';
    return {
      svg: bars(width, b.series, rows, { format: v => amount(b.counter, v) }), key: legend(b.series),
      summary: rows.map(r => `${r.name} ${r.text}`).join(', '),
      table: [['part', ...rows.map(r => r.name)], b.series.map((s, i) => [s, ...rows.map(r => amount(b.counter, r.parts[i]))])],
    };
  });
}

/** Curves over one axis: each a line, or points. */
function curvesChart(b) {
  return chart(b.id, b.title, b.note, width => {
    const all = b.curves.flatMap(c => c.points);
    if (all.length === 0) return 'There is no point to show.';
    const height = Math.round(Math.max(240, Math.min(400, width * 0.6)));
    const left = 62, bottom = height - 46;
    const x = scale(all.map(p => p[0]), left, width - 12), y = scale([0, ...all.map(p => p[1])], bottom, 24);
    const svg = draw('svg', { width, height });
    let last = -Infinity;
    const across = scaleTicks(x.low, x.high, x.logarithmic, Math.max(2, width / 110));
    for (const t of across) {
      svg.append(draw('line', { class: 'axis', x1: x.at(t), x2: x.at(t), y1: bottom, y2: 24 }));
      if (x.at(t) - last < 58) continue;
      last = x.at(t);
      svg.append(label(Math.min(x.at(t), width - 26), bottom + 16, mark(b.across, t, apart(across)), { 'text-anchor': 'middle', class: 'soft' }));
    }
    const up = scaleTicks(Math.max(y.low, 0), y.high, false, 6);
    for (const t of up) {
      svg.append(draw('line', { class: 'axis', x1: left, x2: width - 12, y1: y.at(t), y2: y.at(t) }),
        label(left - 6, y.at(t) + 4, mark(b.up, t, apart(up)), { 'text-anchor': 'end', class: 'soft' }));
    }
    svg.append(label(width - 12, height - 8, `${b.across}${x.logarithmic ? ', logarithmic' : ''} →`, { 'text-anchor': 'end' }), label(2, 13, `↑ ${b.up}`, {}));
    b.curves.forEach((c, i) => {
      if (c.line) {
        const d = c.points.map((p, k) => `${k === 0 ? 'M' : 'L'}${x.at(p[0]).toFixed(1)},${y.at(p[1]).toFixed(1)}`).join('');
        svg.append(draw('path', { d, style: `fill:none;stroke:var(--s${i % 9});stroke-width:1.6` }));
      }
      for (const p of c.points) {
        svg.append(draw('path', {
          class: 'mark point', transform: `translate(${x.at(p[0]).toFixed(1)},${y.at(p[1]).toFixed(1)})`, d: shape(i, c.line ? 2.4 : 4.2), style: `fill:var(--s${i % 9})`,
        }, hint(`${c.name}: ${amount(b.across, p[0])} ${b.across}, ${amount(b.up, p[1])} ${b.up}`)));
      }
    });
    const key = make('ul', { class: 'legend' }, b.curves.map((c, i) => make('li', {},
      draw('svg', { width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' }, draw('path', { d: shape(i, 4.5), style: `fill:var(--s${i % 9})` })), c.name)));
    const places = [...new Set(all.map(p => p[0]))].sort((p, q) => p - q);
    const at = (c, place) => c.points.filter(p => p[0] === place).map(p => amount(b.up, p[1])).join(', ') || '–';
    return {
      svg, key, summary: `${b.up} over ${b.across}: ${b.curves.map(c => c.name).join(', ')}`,
      table: [[b.across, ...b.curves.map(c => c.name)], places.map(p => [amount(b.across, p), ...b.curves.map(c => at(c, p))])],
    };
  });
}

/** A table, with a field to look for rows where there are many. */
function tableBlock(b) {
  const cell = (tag, c) => { const [text, kind] = Array.isArray(c) ? c : [c, '']; return make(tag, { class: kind || null, scope: tag === 'th' ? 'col' : null }, text); };
  const rows = b.rows.map(r => make('tr', { class: r.same ? 'same' : null }, r.cells.map(c => cell('td', c))));
  const count = make('span', { class: 'soft' });
  const word = make('input', { type: 'search', placeholder: 'part of a name', 'aria-label': 'part of a name', oninput: () => sift() });
  const all = make('input', { type: 'checkbox', onchange: () => sift() });
  const sift = () => {
    let shown = 0;
    rows.forEach((r, i) => {
      const name = b.rows[i].cells[0];
      r.hidden = !(Array.isArray(name) ? name[0] : name).toLowerCase().includes(word.value.toLowerCase()) || (b.rows[i].same && !all.checked);
      shown += r.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length}`;
  };
  if (b.filter) sift();
  return make('figure', { id: b.id, class: 'wide', 'data-chart': b.id, 'data-drawn': rows.length },
    make('div', { class: 'top' }, make('h2', {}, b.title),
      b.filter ? make('span', { class: 'controls' }, word, make('label', { class: 'soft' }, all, ' also equal ones'), count) : null),
    b.note ? make('p', { class: 'note' }, b.note) : null,
    make('div', { class: b.filter ? 'scroll long' : 'scroll', tabindex: '0' }, make('table', {}, make('thead', {}, make('tr', {}, b.heads.map(h => cell('th', h)))), make('tbody', {}, rows))));
}

const KINDS = { ratios: ratioChart, effects: effectsChart, plane: planeChart, stack: stackChart, curves: curvesChart, table: tableBlock };

const holder = make('div', { class: 'grid' });
function show() {
  charts.length = 0;
  holder.replaceChildren(...chosen().blocks.map(b => KINDS[b.kind](b)));
  charts.forEach(c => c.redraw());
}

document.getElementById('report').append(...[
  make('header', {},
    make('p', { class: 'brand' }, 'Heddle'),
    make('div', { class: 'head' }, make('h1', {}, data.title), data.verdict ? make('span', { class: `badge ${data.verdict[1]}` }, data.verdict[0]) : null),
    data.about.map(line => make('p', { class: 'soft lead' }, line))),
  data.notes.length ? make('ul', { class: `findings${data.wrong ? ' wrong' : ''}` }, data.notes.map(n => make('li', {}, n))) : null,
  data.choices.length > 1 ? make('nav', { 'aria-label': 'What to show' }, pick(data.choice, data.choices.map((c, i) => [i, c.name]), 0, v => { state.choice = v; show(); })) : null,
  holder,
].filter(e => e));
show();
let waiting = 0;
addEventListener('resize', () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => charts.forEach(c => c.resize())); });
root.dataset.fits = String(root.scrollWidth <= root.clientWidth);
root.dataset.ready = String(charts.length);
