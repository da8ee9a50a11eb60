
// The index page of `heddle exec --report`: shares of kernels, and tables of kernels and launches that sort by any column.

const run = data.run;
const kernelOf = l => run.kernels[l.kernel];
const total = name => sum(run.kernels.map(k => k[name]));
const timed = total('timed') > 0;
/** What shares are of: cycles if any launch was timed. */
const whole = timed ? ['cycles', 'cycles'] : ['instructions', 'instructions'];

/** Kernels in the order of their share, the small ones together. */
const SHOWN = 8;
const ordered = run.kernels.map((k, i) => ({ ...k, index: i })).sort((a, b) => b[whole[0]] - a[whole[0]] || a.index - b.index);
const shown = ordered.slice(0, SHOWN);
const others = ordered.slice(SHOWN);
const series = [...shown.map(k => k.name), ...(others.length ? [`${others.length} more`] : [])];
const parts = name => [...shown.map(k => k[name]), ...(others.length ? [sum(others.map(k => k[name]))] : [])];
const time = v => (v === 0 ? '0' : seconds(v));
const MEASURES = [
  ...(timed ? [['cycles', 'cycles', group], ['energy', 'energy_pj', joules], ['DRAM traffic', 'dram_bytes', bytes]] : []),
  ['instructions', 'instructions', group],
  ['launches', 'launches', group],
  ['host time', 'host_seconds', time],
];

function shares(width) {
  if (run.kernels.length === 0) return 'The program launched no kernel.';
  const rows = MEASURES.map(([name, field, format]) => ({ name, parts: parts(field), text: format(total(field)), format }));
  return {
    svg: bars(width, series, rows, { whole: true, format: v => (Number.isInteger(v) ? group(v) : rate(v)) }), key: legend(series),
    summary: shown.slice(0, 4).map(k => `${k.name} ${percent(k[whole[0]], total(whole[0]))} of the ${whole[1]}`).join(', '),
    table: [['share of', ...series], rows.map(r => [r.name, ...r.parts.map(p => percent(p, sum(r.parts)))])],
  };
}

/** A table that sorts. Columns: { name, value(row), text(row), words }, where `value` sorts and `text` may be an element. */
function sortable(id, title, note, columns, rows, first) {
  let order = { column: first, down: !columns[first].words };
  let word = '';
  const body = make('tbody');
  const count = make('span', { class: 'soft' });
  const heads = columns.map((c, i) => make('th', { scope: 'col', class: c.words ? 't' : null }, make('button', { onclick: () => {
    order = { column: i, down: order.column === i ? !order.down : !c.words };
    refresh();
  } }, c.name)));
  const made = rows.map(row => ({ row, element: make('tr', {}, columns.map(c => make('td', { class: c.words ? 't' : null }, c.text(row)))) }));
  function refresh() {
    const { value } = columns[order.column];
    const compare = (a, b) => {
      const [x, y] = [value(a.row), value(b.row)];
      // What is not known stands last either way.
      if (x === null || y === null) return (x === null) - (y === null);
      const less = typeof x === 'string' ? x.localeCompare(y) : x - y;
      return order.down ? -less : less;
    };
    heads.forEach((h, i) => {
      if (i === order.column) h.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else h.removeAttribute('aria-sort');
    });
    const kept = made.filter(m => m.row.name.toLowerCase().includes(word)).sort(compare);
    body.replaceChildren(...kept.map(m => m.element));
    count.textContent = kept.length === made.length ? '' : `${kept.length} of ${made.length}`;
  }
  const search = rows.length > 12 ? make('span', { class: 'controls' }, make('input', { type: 'search', placeholder: 'part of a name', 'aria-label': `${title}: part of a name`, oninput: e => { word = e.target.value.toLowerCase(); refresh(); } }), count) : null;
  refresh();
  return make('figure', { id, class: 'wide', 'data-chart': id, 'data-drawn': rows.length },
    make('div', { class: 'top' }, make('h2', {}, title), search), make('p', { class: 'note' }, note),
    make('div', { class: rows.length > 24 ? 'scroll long' : 'scroll', tabindex: '0' }, make('table', {}, make('thead', {}, make('tr', {}, heads)), body)));
}

const maybe = (v, format) => (v === null || v === undefined ? '–' : format(v));
const number = (name, field, format = group) => ({ name, value: r => r[field] ?? null, text: r => maybe(r[field], format) });
const sizes = list => (list.length ? list.join(' × ') : '–');
const product = list => (list.length ? list.reduce((a, b) => a * b, 1) : null);
const share = { name: `share of ${whole[1]}`, value: r => r[whole[0]] ?? null, text: r => maybe(r[whole[0]], v => percent(v, total(whole[0]))) };
/** Cycles, marked and with their interval where they were extrapolated. */
const halfWidth = s => Math.ceil(s.spread + s.allowance);
const cyclesColumn = { name: 'cycles', value: r => r.cycles ?? null, text: r => maybe(r.cycles, n => (r.sampling ? `≈${group(n)} ± ${group(halfWidth(r.sampling))}` : group(n))) };
const figures = (ofLaunch) => [
  number('work-items', 'work_items'), number('instructions', 'instructions'),
  ...(timed ? [cyclesColumn] : []), share,
  ...(timed ? [number('energy', 'energy_pj', joules), number('DRAM traffic', 'dram_bytes', bytes)] : []),
  number('host time', 'host_seconds', time),
  ...(ofLaunch ? [] : [number('faults', 'faults')]),
];
const kernels = run.kernels.map(k => (k.timed > 0 ? k : { ...k, cycles: null, energy_pj: null, dram_bytes: null }));
const kernelColumns = [{ name: 'kernel', value: k => k.name, text: k => k.name, words: true }, number('launches', 'launches'), ...(timed ? [number('timed', 'timed')] : []), ...figures(false)];
const launches = run.launches.map(l => ({ ...l, name: kernelOf(l).name, global_items: product(l.global), local_items: product(l.local) }));
const launchColumns = [
  number('number', 'number'),
  { name: 'kernel', value: l => l.name, text: l => [l.page ? make('a', { href: l.page }, l.name) : l.name, l.occurrence > 1 || kernelOf(l).launches > 1 ? make('span', { class: 'soft' }, ` :${l.occurrence}`) : ''], words: true },
  { name: 'global size', value: l => l.global_items, text: l => sizes(l.global) },
  { name: 'local size', value: l => l.local_items, text: l => sizes(l.local) },
  { name: 'mode', value: l => (l.timed ? 'timing' : 'functional'), text: l => (l.fault ? make('span', { class: 'bad' }, `${l.timed ? 'timing' : 'functional'}, fault`) : l.timed ? 'timing' : 'functional'), words: true },
  ...figures(true),
];
const byShare = columns => columns.findIndex(c => c === share);

const m = data.machine;
const faults = total('faults');
const took = total('cycles') / m.clock_mhz / 1e6;
const lead = [
  `${group(total('launches'))} launches of ${group(run.kernels.length)} kernels`,
  timed ? `${group(total('timed'))} timed: ${group(total('cycles'))} cycles (${seconds(took)} at ${m.clock_mhz} MHz), ${joules(total('energy_pj'))}` : 'functional mode',
  `machine ${m.name}: ${m.sms} SMs, warps of ${m.warp_size}`,
].join(' · ');
document.getElementById('report').append(...[
  make('header', {},
    make('p', { class: 'brand' }, 'Heddle'),
    make('div', { class: 'head' }, make('h1', {}, run.title),
      faults ? make('span', { class: 'badge bad' }, `✕ ${group(faults)} ${faults === 1 ? 'fault' : 'faults'}`) : make('span', { class: 'badge good' }, '✓ no fault')),
    make('p', { class: 'soft lead' }, lead),
    make('p', { class: 'command soft' }, make('code', {}, run.command))),
  run.notes.length ? make('ul', { class: 'findings' }, run.notes.map(n => make('li', {}, n))) : null,
  make('div', { class: 'grid' },
    chart('shares', 'Shares of the kernels', timed ? 'Cycles, energy and traffic of the launches that were timed; instructions, launches and host time of all.' : 'No launch was timed: --mode timing or --timing gives cycles and energy.', shares, { wide: true }),
    sortable('kernels', 'Kernels', 'All launches of each kernel together. A column’s head sorts.', kernelColumns, kernels, byShare(kernelColumns)),
    sortable('launches', 'Launches', 'Names with a link lead to the page of that launch. Behind a name: which of the kernel’s launches it is, as --timing and --record-only count.', launchColumns, launches, timed ? byShare(launchColumns) : 0)),
  make('footer', {}, make('p', {}, `All figures were counted while the simulator ran. Heddle ${data.version}; machine ${m.name}: ${m.description.trim()}`)),
].filter(e => e));
charts.forEach(c => c.redraw());
let waiting = 0;
addEventListener('resize', () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => charts.forEach(c => c.resize())); });
root.dataset.fits = String(root.scrollWidth <= root.clientWidth);
root.dataset.ready = String(charts.length);
