
// Charts of a run's statistics, and of its time line.

/** The statistics that are shown: of one launch, or of all. */
const state = { launch: -1, segment: -1, kernel: 0 };
const stats = () => (state.launch < 0 ? data.total : data.launches[state.launch].statistics);
const timing = () => stats().timing;
const noTime = what => `Functional mode computes results only; ${what} timing mode (--mode timing).`;

function tiles() {
  const s = stats();
  const t = timing();
  const m = data.machine;
  const list = [];
  const add = (name, value, small) => list.push(make('div', { class: 'tile' }, make('dt', {}, name), make('dd', {}, value, make('small', {}, small))));
  if (t) {
    const sampled = t.sampling;
    const interval = sampled ? ` ± ${group(Math.ceil(sampled.spread + sampled.allowance))} with ${percent(sampled.confidence, 1)} confidence: ${percent(sampled.timed_instructions, sampled.instructions)} of the sampled instructions were timed, the rest is extrapolated;` : '';
    add('Cycles', `${sampled ? '≈' : ''}${group(t.cycles)}`, `${interval} ${seconds(t.cycles / m.clock_mhz / 1e6)} at ${m.clock_mhz} MHz`.trim());
    add('Instructions a cycle', (s.instructions / Math.max(t.cycles, 1)).toFixed(2), `${group(s.instructions)} warp instructions on ${m.sms} SMs`);
    add('Occupancy', percent(t.occupancy, 1), `at most ${t.resident_warps} of ${m.max_warps} warps an SM, limited by ${t.residency_limit}`);
  } else {
    add('Instructions', group(s.instructions), 'executed by warps');
  }
  const vector = s.instructions - s.scalar_instructions;
  add('Active lanes', percent(s.lane_instructions, vector * m.warp_size), `of vector instructions; ${group(s.divergent_branches)} branches split a warp`);
  if (t) {
    const f = t.forms;
    const oracle = f.scalar + f.marked + f.one_lane + f.few_lanes + f.missed;
    add('Redundant, run once', percent(oracle - f.missed, oracle), `${percent(oracle, oracle + f.vector)} of instructions are redundant`);
    const still = s.energy_pj.static ?? 0;
    add('Dynamic energy', joules(sum(Object.values(s.energy_pj)) - still), `and ${joules(still)} of static power`);
    const h = t.hierarchy;
    add('Device memory', bytes(h.dram_read_bytes + h.dram_written_bytes), `${bytes(h.dram_read_bytes)} read, ${bytes(h.dram_written_bytes)} written`);
  } else {
    add('On the scalar unit', percent(s.scalar_instructions, s.instructions), `${group(s.scalar_instructions)} instructions`);
  }
  add('Work-items', group(s.work_items), `${group(s.work_groups)} work-groups, ${group(s.warps)} warps of ${m.warp_size}`);
  return make('dl', { class: 'tiles', 'data-chart': 'summary', 'data-drawn': list.length }, list);
}

/** What stands out, in sentences made of counts. */
function findings() {
  const s = stats();
  const t = timing();
  const out = [];
  if (t) {
    const causes = Object.entries(t.stalls).sort((a, b) => b[1] - a[1]);
    const all = sum(causes.map(c => c[1]));
    const names = { dependence: 'results of arithmetic', memory: 'memory', unit: 'a free unit', barrier: 'a barrier', rename: 'shared registers', fetch: 'instructions', inactive: 'a place in the active set', bank: 'banks of the main register file' };
    if (all > 0) out.push(`Resident warps wait ${percent(all, all + s.instructions)} of their time; of that ${percent(causes[0][1], all)} for ${names[causes[0][0]]} and ${percent(causes[1][1], all)} for ${names[causes[1][0]]}.`);
  }
  const local = s.registers.local;
  const served = sum(local.map(a => a.reads + a.writes));
  const main = s.registers.main.reads + s.registers.main.writes;
  if (served + main > 0) out.push(`Local register files serve ${percent(served, served + main)} of the vector register accesses.`);
  if (t) {
    const f = t.forms;
    const oracle = f.scalar + f.marked + f.one_lane + f.few_lanes + f.missed;
    if (oracle > 0) out.push(`${percent(oracle, oracle + f.vector)} of the instructions give all active lanes one result; the compiler has ${percent(f.scalar + f.marked, oracle)} of these run once, the run-time scalarizer ${percent(f.one_lane + f.few_lanes, oracle)}.`);
    const dynamic = Object.entries(s.energy_pj).filter(([name]) => name !== 'static');
    const [name, pj] = dynamic.sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
    if (pj > 0) out.push(`The largest part of the dynamic energy is ${name}: ${percent(pj, sum(dynamic.map(e => e[1])))}.`);
    const loads = sum(t.hierarchy.latencies);
    const slow = sum(t.hierarchy.latencies.slice(8));
    if (slow >= 0.0005 * loads && slow > 0) out.push(`${percent(slow, loads)} of the loads from global, constant and private memory take 256 cycles or more.`);
  }
  const split = s.divergent_branches;
  out.push(split > 0 ? `Warps split at branches ${split === 1 ? 'once' : `${group(split)} times`}.` : 'No warp ever split at a branch.');
  return make('ul', { class: 'findings' }, out.map(o => make('li', {}, o)));
}

function instructionMix(width) {
  const s = stats();
  const rows = Object.entries(s.classes).sort((a, b) => b[1] - a[1]);
  return {
    svg: bars(width, ['executed'], rows.map(([name, n]) => ({ name, parts: [n], text: `${short(n)} · ${percent(n, s.instructions)}` }))),
    summary: rows.slice(0, 3).map(([n, v]) => `${n} ${percent(v, s.instructions)}`).join(', '),
    table: [['class', 'warp instructions', 'share'], rows.map(([n, v]) => [n, group(v), percent(v, s.instructions)])],
  };
}

/** Capacity and area of an SM's register file, as texts; empty for predicates, which have none of their own. */
function capacity(name) {
  const file = data.machine.register_files.find(f => f.name === name.replace('local of', 'local'));
  return file ? [(file.bits / 8192).toFixed(1), file.area_mm2.toFixed(3)] : ['', ''];
}

function registerFiles(width) {
  const r = stats().registers;
  const rows = [['main', r.main], ...r.local.map((a, i) => [`local of ${data.machine.clusters[i] ?? i}`, a]), ['scalar', r.scalar], ['predicate', r.predicate]];
  const all = sum(rows.map(([, a]) => a.reads + a.writes));
  if (all === 0) return 'No register was accessed.';
  return {
    svg: bars(width, ['reads', 'writes'], rows.map(([name, a]) => ({ name, parts: [a.reads, a.writes], text: `${short(a.reads + a.writes)} · ${percent(a.reads + a.writes, all)}` }))),
    key: legend(['reads', 'writes']),
    summary: rows.map(([n, a]) => `${n} ${percent(a.reads + a.writes, all)}`).join(', '),
    table: [['file', 'reads', 'writes', 'share of all', 'KiB an SM', 'mm² an SM'], rows.map(([n, a]) => [n, group(a.reads), group(a.writes), percent(a.reads + a.writes, all), ...capacity(n)])],
  };
}

function scalarShare(width) {
  const t = timing();
  if (!t) return noTime('the operands of all lanes are compared in');
  const f = t.forms;
  const oracle = f.scalar + f.marked + f.one_lane + f.few_lanes + f.missed;
  if (oracle + f.vector === 0) return 'No instruction but branches, barriers and exits was executed.';
  const series = ['scalar instructions', 'u-marked', 'scalarised: one lane', 'scalarised: few lanes', 'missed', 'differs between lanes'];
  const colours = [2, 6, 4, 3, 1, 8];
  const parts = [f.scalar, f.marked, f.one_lane, f.few_lanes, f.missed, f.vector];
  const rows = [
    { name: 'all instructions', parts, text: short(oracle + f.vector) },
    { name: 'oracle', parts: [...parts.slice(0, 5), 0], text: short(oracle) },
  ];
  return {
    svg: bars(width, series, rows, { whole: true, colours }),
    key: legend(series, colours),
    summary: `${percent(oracle - f.missed, oracle)} of what an oracle would run once is run once`,
    table: [['form', 'warp instructions', 'of all', 'of the oracle'],
      series.map((n, i) => [n, group(parts[i]), percent(parts[i], oracle + f.vector), i < 5 ? percent(parts[i], oracle) : '–'])],
  };
}

const LEVELS = [['data L1', 'data'], ['uniform L1', 'uniform'], ['constant L1', 'constant'], ['instruction L1', 'instruction'], ['L1.5', 'l15'], ['L2', 'l2']];

function caches(width) {
  const t = timing();
  if (!t) return noTime('there are caches only in');
  const series = ['found', 'found, still on its way', 'not found', 'past it by policy'];
  const colours = [2, 6, 1, 8];
  const rows = LEVELS.map(([name, key]) => [name, t.hierarchy[key]]).filter(([, c]) => c.reads + c.writes > 0);
  if (rows.length === 0) return 'No cache was accessed.';
  const parts = c => [Math.max(0, c.reads - c.misses - c.bypassed - c.merged), c.merged, c.misses, c.bypassed];
  return {
    svg: bars(width, series, rows.map(([name, c]) => ({ name, parts: parts(c), text: `${percent(c.reads - c.misses - c.bypassed, c.reads)} found of ${short(c.reads)}` })), { whole: true, colours }),
    key: legend(series, colours),
    summary: rows.map(([n, c]) => `${n} finds ${percent(c.reads - c.misses - c.bypassed, c.reads)}`).join(', '),
    table: [['level', 'reads', ...series, 'writes', 'written back', 'evicted by age', 'evict-first', 'discarded'],
      rows.map(([n, c]) => [n, group(c.reads), ...parts(c).map(group), group(c.writes), group(c.written_back), group(c.evicted_normal), group(c.evicted_first), group(c.discarded)])],
  };
}

/** Bytes between the levels: bands whose thickness is the traffic. */
function traffic(width) {
  const t = timing();
  if (!t) return noTime('traffic is counted in');
  const h = t.hierarchy;
  const sector = data.machine.sector_bytes;
  const near = [(h.data.reads + h.uniform.reads + h.constant.reads) * sector, h.data.writes * sector];
  const flows = [
    { from: 'lanes', to: 'L1', name: 'lanes and L1', bytes: near },
    { from: 'L1', to: 'L2', name: 'L1, L1.5 and L2', bytes: [h.l2_to_l1_bytes, h.l1_to_l2_bytes] },
    { from: 'L2', to: 'DRAM', name: 'L2 and device memory', bytes: [h.dram_read_bytes, h.dram_written_bytes] },
  ];
  if (h.system_read_bytes + h.system_written_bytes > 0) flows.push({ from: 'L2', to: 'host', name: 'L2 and system memory', bytes: [h.system_read_bytes, h.system_written_bytes] });
  const most = Math.max(...flows.flatMap(f => f.bytes));
  if (most === 0) return 'Nothing was read from or written to memory.';
  const nodes = ['lanes', 'L1', 'L2', 'DRAM'];
  const box = width < 460 ? 46 : 64;
  const gap = (width - 2 - nodes.length * box) / (nodes.length - 1);
  const host = flows.length > 3;
  const height = host ? 250 : 158;
  const svg = draw('svg', { width, height });
  const fills = paints(svg, ['read', 'written'], [0, 1]);
  const thick = 44;
  const left = i => 1 + i * (box + gap);
  nodes.forEach((n, i) => {
    const tall = host && n === 'L2' ? height - 10 : 144;
    svg.append(draw('rect', { x: left(i), y: 4, width: box, height: tall, rx: 6, style: 'fill:var(--faint);stroke:var(--line)' }));
    svg.append(label(left(i) + box / 2, 80, n, { 'text-anchor': 'middle', 'font-weight': 600 }));
  });
  if (host) {
    svg.append(draw('rect', { x: left(3), y: 164, width: box, height: 80, rx: 6, style: 'fill:var(--faint);stroke:var(--line)' }));
    svg.append(label(left(3) + box / 2, 208, 'host', { 'text-anchor': 'middle', 'font-weight': 600 }));
  }
  flows.forEach((f, k) => {
    const column = k < 3 ? k : 2;
    const [x1, x2] = [left(column) + box, left(column + 1)];
    f.bytes.forEach((n, d) => {
      const middle = (k < 3 ? 0 : 116) + (k < 3 ? [44, 112][d] : [68, 108][d]);
      const w = n === 0 ? 0 : Math.max(1, (k < 3 ? thick : 26) * n / most);
      const tip = 9;
      const [a, b] = d === 0 ? [x2, x1] : [x1, x2];
      const dir = Math.sign(b - a);
      if (n > 0) {
        const end = b - dir * tip;
        svg.append(draw('path', { class: 'mark', style: `fill:${fills[d]}`,
          d: `M${a},${middle - w / 2}H${end}V${middle - w / 2 - 3}L${b},${middle}L${end},${middle + w / 2 + 3}V${middle + w / 2}H${a}Z` },
        hint(`${f.name}, ${d === 0 ? 'read' : 'written'}: ${group(n)} bytes`)));
      }
      svg.append(label((x1 + x2) / 2, middle - Math.max(w / 2, 2) - 5, bytes(n), { 'text-anchor': 'middle', 'font-size': width < 460 ? 10 : 12 }));
    });
  });
  return {
    svg,
    key: legend(['read (towards the lanes)', 'written'], [0, 1]),
    summary: flows.map(f => `${f.name}: ${bytes(f.bytes[0])} read, ${bytes(f.bytes[1])} written`).join('; '),
    table: [['between', 'bytes read', 'bytes written'], flows.map(f => [f.name, group(f.bytes[0]), group(f.bytes[1])])],
  };
}

function latencies(width) {
  const t = timing();
  if (!t) return noTime('latencies are measured in');
  const bins = t.hierarchy.latencies.map((n, i) => [i, n]);
  const first = bins.findIndex(([, n]) => n > 0);
  if (first < 0) return 'No load left the SM.';
  const last = bins.findLastIndex(([, n]) => n > 0);
  const all = sum(t.hierarchy.latencies);
  const rows = bins.slice(first, last + 1).map(([i, n]) => ({ name: i === 15 ? '32768 and more' : `${2 ** i} – ${2 ** (i + 1) - 1}`, parts: [n], text: `${short(n)} · ${percent(n, all)}` }));
  return {
    svg: bars(width, ['loads'], rows),
    summary: rows.map(r => `${r.name} cycles: ${r.text}`).join(', '),
    table: [['cycles', 'loads', 'share'], rows.map(r => [r.name, group(r.parts[0]), percent(r.parts[0], all)])],
  };
}

function energy(width) {
  const s = stats();
  const descending = parts => parts.filter(([, e]) => e > 0).sort((a, b) => b[1] - a[1]);
  // What was done comes first, then what static power takes, by component.
  const done = descending(Object.entries(s.energy_pj).filter(([name]) => name !== 'static'));
  const rows = [...done, ...descending(Object.entries(s.static_pj ?? {})).map(([name, e]) => [`static: ${name}`, e])];
  if (rows.length === 0) return noTime('energy is counted in');
  const all = sum(rows.map(r => r[1]));
  // Static energy would leave nothing to see of the rest.
  const dynamic = done.map(r => r[1]);
  const most = dynamic.length > 0 && all - sum(dynamic) > 2 * dynamic[0] ? dynamic[0] * 1.15 : undefined;
  return {
    svg: bars(width, ['energy'], rows.map(([name, e]) => ({ name, parts: [e], text: `${joules(e)} · ${percent(e, all)}` })), { format: joules, colours: [5], most }),
    summary: rows.slice(0, 4).map(([n, e]) => `${n} ${percent(e, all)}`).join(', '),
    table: [['component', 'picojoules', 'share'], rows.map(([n, e]) => [n, group(e), percent(e, all)])],
  };
}

function roofline(width) {
  const r = data.roofline;
  if (!r) return noTime('time is measured in');
  const places = r.points.flatMap(p => [['DRAM', p.dram_bytes], ['L2', p.l2_bytes]].filter(([, b]) => b > 0).map(([level, b]) => ({ p, level, x: p.operations.float + p.operations.integer > 0 ? (p.operations.float + p.operations.integer) / b : 0 })))
    .filter(q => q.x > 0 && q.p.rate > 0);
  if (places.length === 0) return 'No arithmetic was executed, or no byte left the SMs: there is no point to draw.';
  // The same without integers, where there are both.
  const alone = places.filter(q => q.p.operations.float > 0 && q.p.operations.integer > 0)
    .map(q => { const part = q.p.operations.float / (q.p.operations.float + q.p.operations.integer); return { ...q, x: q.x * part, rate: q.p.rate * part }; });
  const top = Math.max(...r.compute.map(c => c.rate));
  const xs = [...places, ...alone].map(q => q.x).concat(r.memory.map(m => top / m.rate));
  const ys = places.map(q => q.p.rate).concat(alone.map(q => q.rate), top);
  const low = Math.floor(Math.log10(Math.min(...xs) / 1.5)), high = Math.ceil(Math.log10(Math.max(...xs) * 1.5));
  const bottom = Math.floor(Math.log10(Math.min(...ys) / 1.5)), ceiling = Math.log10(top * 2.2);
  const height = Math.min(420, Math.max(300, width * 0.62));
  const [l, t, b] = [46, 8, 38];
  const X = v => l + (Math.log10(v) - low) / (high - low) * (width - l - 10);
  const Y = v => t + (ceiling - Math.log10(v)) / (ceiling - bottom) * (height - t - b);
  const svg = draw('svg', { width, height });
  for (let e = low; e <= high; e += 1) {
    svg.append(draw('line', { class: 'axis', x1: X(10 ** e), x2: X(10 ** e), y1: t, y2: height - b }));
    svg.append(label(X(10 ** e), height - b + 15, e < 0 ? String(Number((10 ** e).toPrecision(1))) : trimmed(10 ** e), { 'text-anchor': e === high ? 'end' : 'middle', class: 'soft' }));
  }
  for (let e = bottom; e <= ceiling; e += 1) {
    svg.append(draw('line', { class: 'axis', x1: l, x2: width - 10, y1: Y(10 ** e), y2: Y(10 ** e) }));
    svg.append(label(l - 6, Y(10 ** e) + 4, trimmed(10 ** e), { 'text-anchor': 'end', class: 'soft' }));
  }
  svg.append(label(width - 10, height - 4, 'operations a byte', { 'text-anchor': 'end', class: 'soft' }));
  svg.append(label(l + 5, t + 12, 'operations a second', { class: 'soft' }));
  const fastest = Math.max(...r.memory.map(m => m.rate));
  const slanted = r.memory.map(m => { const start = Math.max(10 ** low, 10 ** bottom / m.rate), end = top / m.rate; return { start, end, from: [X(start), Y(start * m.rate)], to: [X(end), Y(top)] }; });
  // Whether a slanted line goes through a rectangle.
  const crossed = (x0, x1, y0, y1) => slanted.some(({ from: [ax, ay], to: [bx, by] }) => {
    const [a, b] = [Math.max(x0, ax), Math.min(x1, bx)];
    const at = x => ay + (x - ax) / (bx - ax) * (by - ay);
    return a <= b && at(a) >= y0 && at(b) <= y1;
  });
  const texts = [];
  r.compute.forEach((c, i) => {
    const from = Math.max(10 ** low, c.rate / fastest);
    svg.append(draw('line', { class: 'mark', x1: X(from), x2: width - 10, y1: Y(c.rate), y2: Y(c.rate), style: `stroke:var(--ink);stroke-width:${i === 0 ? 2 : 1.2}`, 'stroke-dasharray': i === 0 ? null : '6 4' }, hint(`${c.name}: ${short(c.rate)} operations a second`)));
    const text = `${c.name} ${short(c.rate)}`;
    const [y, length] = [Y(c.rate) + (i === 0 ? -5 : 14), 6.2 * text.length];
    // At the right end, or as far to the left of it as it takes to stand clear.
    let end = width - 12;
    while (end - length > X(from) && crossed(end - length - 4, end + 4, y - 11, y + 4)) end -= 6;
    if (crossed(end - length - 4, end + 4, y - 11, y + 4)) end = width - 12;
    texts.push(label(end, y, text, { 'text-anchor': 'end', 'font-size': 11, class: 'halo' }));
  });
  r.memory.forEach((m, i) => {
    const { start, end } = slanted[i];
    svg.append(draw('line', { class: 'mark', x1: X(start), y1: Y(start * m.rate), x2: X(end), y2: Y(top), style: `stroke:var(--s${i === 0 ? 0 : 2});stroke-width:2` }, hint(`${m.name}: ${bytes(m.rate)} a second`)));
    const at = start * (end / start) ** 0.42;
    const angle = Math.atan2(Y(top) - Y(start * m.rate), X(end) - X(start)) * 180 / Math.PI;
    svg.append(label(0, 0, `${m.name} ${bytes(m.rate)}/s`, { transform: `translate(${X(at)},${Y(at * m.rate) - 6}) rotate(${angle})`, 'text-anchor': 'middle', 'font-size': 11, class: 'halo' }));
  });
  // On top of the lines, where there is no room beside them.
  svg.append(...texts);
  const marks = [];
  for (const q of alone) {
    const [x, y] = [X(q.x), Y(q.rate)];
    marks.push(draw(q.level === 'DRAM' ? 'circle' : 'rect', { class: 'mark', ...(q.level === 'DRAM' ? { cx: x, cy: y, r: 4.5 } : { x: x - 4, y: y - 4, width: 8, height: 8, transform: `rotate(45 ${x} ${y})` }), style: `fill:var(--panel);stroke:var(--s${q.level === 'DRAM' ? 0 : 2});stroke-width:2` },
      hint(`${q.p.kernel}, floating point only: ${q.x.toPrecision(3)} operations a byte of ${q.level}, ${short(q.rate)} operations a second`)));
  }
  for (const q of places) {
    const [x, y] = [X(q.x), Y(q.p.rate)];
    const tip = hint(`${q.p.kernel}: ${q.x.toPrecision(3)} operations a byte of ${q.level}, ${short(q.p.rate)} operations a second`);
    marks.push(q.level === 'DRAM'
      ? draw('circle', { class: 'mark', cx: x, cy: y, r: 6, style: 'fill:var(--s0);stroke:var(--panel);stroke-width:1.5' }, tip)
      : draw('rect', { class: 'mark', x: x - 5.5, y: y - 5.5, width: 11, height: 11, transform: `rotate(45 ${x} ${y})`, style: 'fill:var(--s2);stroke:var(--panel);stroke-width:1.5' }, tip));
  }
  // Names beside the DRAM points, lower if they would overlap.
  const taken = [];
  for (const q of places.filter(q => q.level === 'DRAM' || !places.some(o => o.p === q.p && o.level === 'DRAM'))) {
    const end = X(q.x) + 14 + 6.5 * q.p.kernel.length > width;
    let y = Y(q.p.rate) + 20;
    while (taken.some(v => Math.abs(v - y) < 13)) y += 13;
    taken.push(y);
    marks.push(label(X(q.x) + (end ? 4 : -4), y, q.p.kernel, { 'font-size': 11.5, 'font-weight': 600, 'text-anchor': end ? 'end' : 'start' }));
  }
  svg.append(...marks);
  return {
    svg,
    key: make('ul', { class: 'legend' }, [['●', 'bytes of device memory'], ['◆', 'bytes of L2'], ...(alone.length ? [['○ ◇', 'floating point only']] : []), ['–', 'ceilings: arithmetic'], ['/', 'ceilings: bandwidth']].map(([s, n]) => make('li', {}, make('b', { 'aria-hidden': 'true' }, s), n))),
    summary: places.map(q => `${q.p.kernel}: ${q.x.toPrecision(3)} operations a byte of ${q.level}, ${percent(q.p.rate, Math.min(top, q.x * r.memory[q.level === 'DRAM' ? 0 : 1].rate))} of the roof`).join('; '),
    table: [['kernel', 'float operations', 'integer operations', 'operations a second', 'a byte of DRAM', 'a byte of L2', 'of the DRAM roof'],
      r.points.map(p => {
        const n = p.operations.float + p.operations.integer;
        const ai = b => (b > 0 ? (n / b).toPrecision(3) : '∞');
        const roof = p.dram_bytes > 0 ? Math.min(top, n / p.dram_bytes * r.memory[0].rate) : top;
        return [p.kernel, group(p.operations.float), group(p.operations.integer), short(p.rate), ai(p.dram_bytes), ai(p.l2_bytes), percent(p.rate, roof)];
      })],
  };
}
