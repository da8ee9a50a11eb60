
// Source and assembly with what each line did and cost.

function add(into, i) {
  for (const key of ['cycles', 'sectors', 'hits', 'far', 'latency', 'pj']) into[key] += i[key] ?? 0;
  if (i.issues > into.issues) { into.issues = i.issues; into.lanes = i.lanes; }
  if (i.latency > 0) into.loads += i.issues;
}

const nothing = () => ({ cycles: 0, sectors: 0, hits: 0, far: 0, latency: 0, pj: 0, issues: 0, lanes: 0, loads: 0 });

/** Columns of both listings; those of timing mode only where time was measured. */
function columns(timed, all) {
  const lanes = c => (c.issues ? `${(100 * c.lanes / (c.issues * data.machine.warp_size)).toFixed(0)}%` : '');
  const list = [
    { name: 'issues', title: 'Times a warp issued it; of a source line, its most frequent instruction', minor: true, of: c => (c.issues ? short(c.issues) : '') },
    { name: 'lanes', title: 'Share of lanes active', minor: true, of: lanes },
  ];
  if (!timed) return list;
  return [
    { name: 'time', title: 'Warps\u2019 cycles: from a warp\u2019s previous issue to this one, waiting included, as a share of all', bar: c => c.cycles / all.cycles, of: c => (c.cycles ? `${(100 * c.cycles / all.cycles).toFixed(1)}%` : '') },
    { name: 'L1 missed', title: 'Sectors not found in L1, of sectors accessed', of: c => (c.sectors ? `${short(c.sectors - c.hits)}/${short(c.sectors)}` : '') },
    { name: 'energy', title: 'Energy of registers, units, issue, and of the sectors it moved', of: c => (c.pj ? joules(c.pj) : '') },
    ...list,
    { name: 'from mem', title: 'Sectors that L2 fetched from memory', minor: true, of: c => (c.far ? short(c.far) : '') },
    { name: 'latency', title: 'Cycles from issue to data, mean over the loads', minor: true, of: c => (c.latency ? Math.round(c.latency / Math.max(1, c.loads)) : '') },
  ];
}

/** The columns that stand before the text: what lines are compared by. A narrow screen has room for one. */
const before = list => list.filter(c => (innerWidth <= 560 ? c.bar : !c.minor)).length;

/** A row's cells: number, columns, text, the other columns. */
function cells(list, counted, number, text) {
  const made = list.map(c => {
    const value = String(c.of(counted));
    if (!c.bar) return make('td', { class: c.minor ? 'minor' : '' }, value);
    const most = c.bar(counted);
    return make('td', { class: 'time' }, most > 0 ? make('i', { style: `width:${Math.max(1, Math.min(100, 100 * most / c.most)).toFixed(1)}%` }) : null, make('span', {}, value));
  });
  const first = before(list);
  return [make('td', { class: 'number' }, number), made.slice(0, first), make('td', { class: 'text' }, make('div', { title: text.length > 40 ? text.trim() : null }, text)), made.slice(first)].flat();
}

function listings() {
  const k = kernel();
  const timed = data.mode === 'timing';
  const all = nothing();
  k.insts.forEach(i => add(all, i));
  const list = columns(timed, all);
  const lines = new Map();
  k.insts.forEach(i => {
    const key = `${i.file}:${i.line}`;
    if (!lines.has(key)) lines.set(key, nothing());
    add(lines.get(key), i);
  });
  const per = k.insts.map(i => ({ ...nothing(), ...i, loads: i.latency > 0 ? i.issues : 0 }));
  const most = (values, bar) => Math.max(1e-12, ...values.map(bar));
  const head = (number, text, scaled) => {
    const cell = c => make('th', { scope: 'col', title: c.title, class: c.minor ? 'minor' : '' }, c.name);
    const first = before(scaled);
    return make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, number), scaled.slice(0, first).map(cell), make('th', { scope: 'col', class: 'text' }, text), scaled.slice(first).map(cell)));
  };
  const scaled = values => list.map(c => (c.bar ? { ...c, most: most(values, c.bar) } : c));
  const host = make('div', { class: 'code' });
  const rows = { source: new Map(), code: [] };
  const choose = (key, from) => {
    host.querySelectorAll('.chosen').forEach(r => r.classList.remove('chosen'));
    const line = rows.source.get(key);
    const code = rows.code.filter((_, i) => `${k.insts[i].file}:${k.insts[i].line}` === key);
    [line, ...code].forEach(r => r?.classList.add('chosen'));
    const other = from === 'source' ? code[0] : line;
    if (other) { const box = other.closest('.listing'); box.scrollTop = other.offsetTop - box.clientHeight / 3; }
  };
  const selectable = (key, from) => ({ tabindex: '0', onclick: () => choose(key, from), onkeydown: e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(key, from); } } });
  // Source, a part for each file.
  const source = make('div', {});
  const sourceColumns = scaled([...lines.values()]);
  for (const f of k.files) {
    const body = make('tbody');
    let last = 0;
    for (const [number, text] of f.lines) {
      if (last && number > last + 1) body.append(make('tr', { class: 'block' }, make('td', { colspan: list.length + 2 }, '⋯')));
      last = number;
      const key = `${f.file}:${number}`;
      const counted = lines.get(key);
      const row = make('tr', counted ? selectable(key, 'source') : {}, cells(sourceColumns, counted ?? nothing(), String(number), text));
      rows.source.set(key, row);
      body.append(row);
    }
    source.append(make('h3', {}, f.path), f.lines.length
      ? make('div', { class: 'listing' }, make('table', {}, head('line', 'source', sourceColumns), body))
      : make('p', { class: 'empty' }, 'The source file could not be read.'));
  }
  if (k.files.length === 0) source.append(make('h3', {}, 'Source'), make('p', { class: 'empty' }, 'The code names no source lines.'));
  // Assembly.
  const body = make('tbody');
  const starts = new Map(k.blocks.map((b, i) => [b.first, i]));
  const codeColumns = scaled(per);
  k.insts.forEach((inst, i) => {
    if (starts.has(i)) {
      const b = k.blocks[starts.get(i)];
      body.append(make('tr', { class: 'block' }, make('td', { colspan: list.length + 2 }, `bb${starts.get(i)} · × ${group(b.executions)} · ${percent(share(b), 1)} of lanes`)));
    }
    const key = `${inst.file}:${inst.line}`;
    const row = make('tr', { ...selectable(key, 'code'), title: inst.line ? `line ${inst.line}` : null }, cells(codeColumns, per[i], String(i), inst.text));
    rows.code.push(row);
    body.append(row);
  });
  const code = make('div', {}, make('h3', {}, `${k.name}: ${k.insts.length} instructions`), make('div', { class: 'listing' }, make('table', {}, head('no.', 'assembly', codeColumns), body)));
  host.append(source, code);
  const attributed = timed && state.launch < 0 && data.kernels.length === 1 ? attribution(all.pj) : null;
  return { host, attributed, rows: rows.code.length };
}

/** How much of the run's energy the listing's lines account for. */
function attribution(pj) {
  const total = sum(Object.values(data.total.energy_pj));
  return make('p', { class: 'note' }, `The instructions account for ${joules(pj)} of ${joules(total)} (${percent(pj, total)}). The rest is no single instruction’s: static power, write-backs, opening of DRAM rows, instruction fetch, L1.5, comparisons of the run-time scalarizer.`);
}

function codeFigure() {
  const note = data.mode === 'timing'
    ? 'Choose a line to see its instructions, or an instruction to see its line. Time is where warps spend their cycles: from a warp’s previous issue to this one, waiting included.'
    : 'Choose a line to see its instructions. Functional mode counts executions and lanes; time, misses and energy need --mode timing.';
  const frame = make('figure', { id: 'code', class: 'wide', 'data-chart': 'code' }, make('h2', {}, 'Source and assembly'), make('p', { class: 'note' }, note));
  const place = make('div');
  frame.append(place);
  let drawn = null;
  const entry = {
    name: 'code',
    redraw() {
      drawn = innerWidth <= 560;
      const { host, attributed, rows } = listings();
      place.replaceChildren(host, ...(attributed ? [attributed] : []));
      frame.dataset.drawn = String(rows);
    },
    resize() { if ((innerWidth <= 560) !== drawn) entry.redraw(); },
  };
  charts.push(entry);
  return frame;
}
