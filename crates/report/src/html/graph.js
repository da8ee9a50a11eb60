
// The control-flow graph, laid out in layers (Sugiyama, Tagawa, Toda, 1981), and live ranges.

const kernel = () => data.kernels[state.kernel];

/** Blocks that the graph shows at most; larger kernels get a strip of all blocks. */
const MOST_NODES = 160;

function layout(blocks) {
  const n = blocks.length;
  // Edges that go back to a block under way are turned round while layers are found.
  const seen = Array(n).fill(0);
  const edges = [];
  const stack = [[0, 0]];
  seen[0] = 1;
  while (stack.length) {
    const top = stack[stack.length - 1];
    const [b, i] = top;
    if (i < blocks[b].edges.length) {
      top[1] += 1;
      const [to, kind] = blocks[b].edges[i];
      if (to >= n) continue;
      edges.push({ from: b, to, kind, back: seen[to] === 1 });
      if (!seen[to]) { seen[to] = 1; stack.push([to, 0]); }
    } else { seen[b] = 2; stack.pop(); }
  }
  const shown = [...Array(n).keys()].filter(b => seen[b]);
  const down = e => (e.back ? [e.to, e.from] : [e.from, e.to]);
  const layer = Array(n).fill(0);
  for (let round = 0, changed = true; changed && round <= n; round += 1) {
    changed = false;
    for (const e of edges) {
      const [a, b] = down(e);
      if (a !== b && layer[b] < layer[a] + 1) { layer[b] = layer[a] + 1; changed = true; }
    }
  }
  // Nodes of each layer; long edges get a point in every layer they cross.
  const nodes = shown.map(b => ({ block: b, layer: layer[b], up: [], down: [] }));
  const of = new Map(nodes.map(v => [v.block, v]));
  for (const e of edges.filter(e => e.from !== e.to)) {
    const [a, b] = down(e);
    let last = of.get(a);
    e.points = [last];
    for (let k = layer[a] + 1; k <= layer[b]; k += 1) {
      const next = k === layer[b] ? of.get(b) : { block: null, layer: k, up: [], down: [] };
      if (next.block === null) nodes.push(next);
      last.down.push(next);
      next.up.push(last);
      e.points.push(next);
      last = next;
    }
    if (e.back) e.points.reverse();
  }
  const layers = [];
  nodes.forEach(v => (layers[v.layer] ??= []).push(v));
  const place = () => layers.forEach(l => l.forEach((v, i) => { v.order = i; }));
  place();
  for (let sweep = 0; sweep < 12; sweep += 1) {
    const side = sweep % 2 ? 'down' : 'up';
    for (const l of sweep % 2 ? [...layers].reverse() : layers) {
      for (const v of l) v.weight = v[side].length ? sum(v[side].map(u => u.order)) / v[side].length : v.order;
      l.sort((a, b) => a.weight - b.weight || a.order - b.order);
      l.forEach((v, i) => { v.order = i; });
    }
  }
  // Positions: near the mean of the neighbours, in order, with room between.
  const size = v => (v.block === null ? 14 : 150);
  for (const l of layers) { let x = 0; for (const v of l) { v.x = x + size(v) / 2; x += size(v) + 18; } }
  for (let sweep = 0; sweep < 24; sweep += 1) {
    for (const l of sweep % 2 ? [...layers].reverse() : layers) {
      const want = l.map(v => { const near = sweep % 2 ? v.down : v.up; return near.length ? sum(near.map(u => u.x)) / near.length : v.x; });
      const gap = (a, b) => (size(a) + size(b)) / 2 + 18;
      const left = [...want], right = [...want];
      for (let i = 1; i < l.length; i += 1) left[i] = Math.max(want[i], left[i - 1] + gap(l[i - 1], l[i]));
      for (let i = l.length - 2; i >= 0; i -= 1) right[i] = Math.min(want[i], right[i + 1] - gap(l[i], l[i + 1]));
      l.forEach((v, i) => { v.x = (left[i] + right[i]) / 2; });
      for (let i = 1; i < l.length; i += 1) l[i].x = Math.max(l[i].x, l[i - 1].x + gap(l[i - 1], l[i]));
    }
  }
  const least = Math.min(...nodes.map(v => v.x - size(v) / 2));
  nodes.forEach(v => { v.x -= least; });
  return { nodes, edges, layers: layers.length, width: Math.max(...nodes.map(v => v.x + size(v) / 2)) };
}

/** Share of lanes active in a block. */
const share = b => (b.executions > 0 ? b.lanes / (b.executions * data.machine.warp_size) : 0);
const shade = s => `color-mix(in oklab, var(--full) ${Math.round(100 * s)}%, var(--thin))`;

function branch(b) {
  if (b.end === 'divergent') return b.splits === null || b.splits === undefined ? '◆ divergent branch' : `◆ split ${short(b.splits)} of ${short(b.executions)}`;
  return { uniform: '▬ uniform branch', barrier: '‖ barrier', exit: '■ end', trap: '✕ trap' }[b.end] ?? '';
}

function blockTable(k) {
  return [['block', 'instructions', 'executed by warps', 'lanes active', 'ends with', 'warps split', 'goes to'],
    k.blocks.map((b, i) => [`bb${i}`, `${b.first} – ${b.first + b.length - 1}`, group(b.executions), percent(share(b), 1), b.end, b.splits ?? '–', b.edges.map(e => `bb${e[0]}`).join(', ')])];
}

function controlFlow(width) {
  const k = kernel();
  const ran = k.blocks.filter(b => b.executions > 0);
  const result = { table: blockTable(k), summary: `${k.blocks.length} blocks, ${ran.length} of them executed, ${k.blocks.filter(b => b.end === 'divergent').length} divergent branches` };
  result.key = make('ul', { class: 'legend' },
    [[1, 'all lanes active'], [0.5, 'half'], [0, 'few']].map(([s, name]) => make('li', {}, draw('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, draw('rect', { width: 14, height: 14, rx: 3, style: `fill:${shade(s)}` })), name)),
    ['◆ divergent branch', '▬ uniform branch', '‖ barrier', 'dashed: never executed', 'thick arrow: more warps'].map(t => make('li', {}, t)));
  if (k.blocks.length > MOST_NODES) return strip(width, k, result);
  const g = layout(k.blocks);
  const [w, h, step] = [150, 54, 92];
  const full = Math.max(g.width + 40, width);
  const shift = (full - g.width) / 2;
  const svg = draw('svg', { width: full, height: g.layers * step });
  const Y = v => v.layer * step + 4;
  const most = Math.max(...k.blocks.map(b => b.executions), 1);
  svg.append(draw('defs', {}, draw('marker', { id: 'tip', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' }, draw('path', { d: 'M0,0L10,5L0,10Z', style: 'fill:var(--soft)' }))));
  for (const e of g.edges) {
    const thick = 1 + 2.2 * Math.min(k.blocks[e.from].executions, k.blocks[e.to].executions) / most;
    const dead = k.blocks[e.from].executions === 0 || k.blocks[e.to].executions === 0;
    const kinds = k.blocks[e.from].edges;
    const aside = kinds.length > 1 ? (e.kind === 'taken' ? 22 : -22) : 0;
    let d;
    if (e.from === e.to) {
      const v = g.nodes.find(v => v.block === e.from);
      const x = v.x + shift + w / 2;
      d = `M${x},${Y(v) + h - 12}C${x + 26},${Y(v) + h - 4} ${x + 26},${Y(v) + 4} ${x + 1},${Y(v) + 14}`;
    } else {
      const points = e.points.map(v => [v.x + shift, v.block === null ? Y(v) + h / 2 : null, v]);
      const up = e.back;
      const start = [points[0][0] + aside, up ? Y(points[0][2]) : Y(points[0][2]) + h];
      const last = points[points.length - 1];
      const end = [last[0] + (up ? 34 : 0), up ? Y(last[2]) + h : Y(last[2]) - 1];
      const all = [start, ...points.slice(1, -1).map(p => [p[0], p[1]]), end];
      d = `M${all[0]}`;
      for (let i = 1; i < all.length; i += 1) {
        const m = (all[i - 1][1] + all[i][1]) / 2;
        d += `C${all[i - 1][0]},${m} ${all[i][0]},${m} ${all[i][0]},${all[i][1]}`;
      }
    }
    svg.append(draw('path', { d, fill: 'none', style: `stroke:var(--soft);stroke-width:${thick.toFixed(2)};stroke-opacity:${dead ? 0.5 : 0.85}`, 'stroke-dasharray': dead ? '4 4' : null, 'marker-end': 'url(#tip)' }, hint(`bb${e.from} to bb${e.to}${e.kind ? ` (${e.kind})` : ''}`)));
  }
  for (const v of g.nodes.filter(v => v.block !== null)) {
    const b = k.blocks[v.block];
    const [x, y] = [v.x + shift - w / 2, Y(v)];
    const s = share(b);
    const lines = new Set(k.insts.slice(b.first, b.first + b.length).map(i => i.line).filter(Boolean));
    const span = lines.size ? `lines ${Math.min(...lines)} – ${Math.max(...lines)}` : '';
    svg.append(draw('rect', { class: 'mark', x, y, width: w, height: h, rx: 7, style: `fill:${b.executions ? shade(s) : 'var(--faint)'};stroke:var(--soft);stroke-width:${b.end === 'divergent' ? 2.2 : 1}`, 'stroke-dasharray': b.executions ? null : '4 3' },
      hint(`bb${v.block}: instructions ${b.first} – ${b.first + b.length - 1}, ${span}, executed ${group(b.executions)} times, ${percent(s, 1)} of the lanes active; ends with ${b.end}`)));
    svg.append(label(x + 9, y + 16, `bb${v.block}`, { 'font-weight': 650 }));
    svg.append(label(x + w - 9, y + 16, `× ${short(b.executions)}`, { 'text-anchor': 'end' }));
    svg.append(label(x + 9, y + 31, b.executions ? `${(100 * s).toFixed(0)} % lanes` : 'not executed'));
    svg.append(label(x + w - 9, y + 31, `${b.length} inst.`, { 'text-anchor': 'end', 'font-size': 11 }));
    svg.append(label(x + 9, y + 46, branch(b), { 'font-size': 11 }));
  }
  return { ...result, svg };
}

/** All blocks of a large kernel in the order of the code: as wide as they are long, as high as their lanes are active. */
function strip(width, k, result) {
  const height = 130;
  const svg = draw('svg', { width, height: height + 20 });
  const all = Math.max(1, k.insts.length);
  for (const [i, b] of k.blocks.entries()) {
    const s = share(b);
    svg.append(draw('rect', { class: 'mark', x: b.first / all * width, y: height - Math.max(1, s * height), width: Math.max(0.5, b.length / all * width - 0.3), height: Math.max(1, s * height), style: `fill:${shade(s)}` },
      hint(`bb${i}: executed ${group(b.executions)} times, ${percent(s, 1)} of the lanes active, ${branch(b)}`)));
  }
  svg.append(label(0, height + 15, `${k.blocks.length} blocks in the order of the code; height: share of lanes active`, { class: 'soft' }));
  return { ...result, svg };
}

function liveRanges(width) {
  const k = kernel();
  const files = k.live.filter(f => f.registers.some(r => r.live.length > 0));
  if (files.length === 0) return 'The kernel uses no register.';
  const n = k.insts.length;
  const left = 40, right = 6;
  const X = point => left + point / (2 * n) * (width - left - right);
  const row = sum(files.map(f => f.registers.length)) <= 70 ? 12 : 9;
  let height = 22;
  for (const f of files) height += 26 + f.registers.length * row;
  const svg = draw('svg', { width, height, tabindex: '0', style: 'cursor:crosshair' });
  for (const b of k.blocks) svg.append(draw('line', { class: 'rule', x1: X(2 * b.first), x2: X(2 * b.first), y1: 14, y2: height - 20 }));
  const title = name => name.replace(/^local of cluster (\d+)$/, (_, c) => `local of ${data.machine.clusters[c] ?? c}`);
  const letter = { main: 'r', scalar: 's', predicate: 'p' };
  const colours = { main: 0, scalar: 2, predicate: 3 };
  let y = 0;
  const places = [];
  for (const f of files) {
    y += 20;
    svg.append(label(0, y - 5, `${title(f.name)}: ${f.registers.length} ${f.registers.length === 1 ? 'register' : 'registers'}, ${f.pressure} live at once at most`, { 'font-weight': 600, class: 'halo' }));
    const colour = `var(--s${colours[f.name] ?? 1})`;
    f.registers.forEach((r, i) => {
      const top = y + i * row;
      const every = f.registers.length > 40 ? 4 : 1;
      if (i % every === 0) svg.append(label(left - 6, top + row - 1, `${letter[f.name] ?? 'l'}${r.index}`, { 'text-anchor': 'end', class: 'soft', 'font-size': row - 1.5 }));
      const d = r.live.map(([a, b]) => `M${X(a).toFixed(1)},${top + 1}H${Math.max(X(b), X(a) + 1).toFixed(1)}V${top + row - 1}H${X(a).toFixed(1)}Z`).join('');
      if (d) svg.append(draw('path', { class: 'mark', d, style: `fill:${colour};fill-opacity:.72` }));
      const w = r.writes.map(p => `M${X(2 * p + 1).toFixed(1)},${top}V${top + row}`).join('');
      if (w) svg.append(draw('path', { d: w, style: 'stroke:var(--ink);stroke-width:1.4' }));
      places.push([top, `${letter[f.name] ?? 'l'}${r.index}${letter[f.name] ? '' : ` of ${title(f.name).slice(9)}`}`, r]);
    });
    y += f.registers.length * row + 6;
  }
  for (const v of ticks(n, width < 560 ? 4 : 10)) svg.append(label(X(2 * v), height - 6, String(v), { 'text-anchor': v > n * 0.97 ? 'end' : 'middle', class: 'soft' }));
  const readout = make('p', { class: 'readout', 'aria-live': 'polite' }, 'Point at a register, or step through the instructions with the arrow keys.');
  const cursor = draw('line', { y1: 14, y2: height - 20, style: 'stroke:var(--accent);stroke-width:1.5;pointer-events:none', visibility: 'hidden' });
  svg.append(cursor);
  let at = -1;
  const show = (i, register) => {
    at = Math.max(0, Math.min(n - 1, i));
    cursor.setAttribute('visibility', 'visible');
    cursor.setAttribute('x1', X(2 * at + 1));
    cursor.setAttribute('x2', X(2 * at + 1));
    const live = places.filter(([, , r]) => r.live.some(([a, b]) => a <= 2 * at && b > 2 * at)).map(p => p[1]);
    const at_row = register ? `${register[1]} is written by ${register[2].writes.slice(0, 12).join(', ') || 'nothing'}. ` : '';
    readout.replaceChildren(make('b', {}, `${at}: `), make('code', {}, k.insts[at].text), ` — ${live.length} registers hold a value before it. ${at_row}`);
  };
  svg.addEventListener('pointermove', e => {
    const box = svg.getBoundingClientRect();
    const i = Math.floor((e.clientX - box.left - left) / (width - left - right) * n);
    const py = e.clientY - box.top;
    if (i >= 0 && i < n) show(i, places.find(([top]) => py >= top && py < top + row));
  });
  svg.addEventListener('keydown', e => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[e.key];
    if (step) { e.preventDefault(); show(at + step); }
  });
  return {
    svg, readout,
    summary: files.map(f => `${title(f.name)}: ${f.pressure} of ${f.registers.length} registers live at once`).join('; '),
    table: [['register', 'live at points (2 × instruction to read, + 1 to write)', 'written by'], places.map(([, name, r]) => [name, r.live.map(l => `${l[0]} – ${l[1]}`).join(', '), r.writes.join(', ')])],
  };
}
