
// The page.

function header() {
  const m = data.machine;
  const verdict = data.partial ? make('span', { class: 'badge bad' }, 'partial: interrupted')
    : data.checked === 0 ? make('span', { class: 'badge soft' }, 'nothing compared')
    : data.passed ? make('span', { class: 'badge good' }, `✓ ${data.checked} ${data.checked === 1 ? 'buffer' : 'buffers'} as expected`)
      : make('span', { class: 'badge bad' }, `✕ ${data.mismatches.length} of ${data.checked} buffers differ`);
  const names = [...new Set(data.launches.map(l => l.kernel))];
  return make('header', {},
    make('p', { class: 'brand' }, 'Heddle'),
    make('div', { class: 'head' }, make('h1', {}, data.title), verdict),
    make('p', { class: 'soft' }, `${names.length === 1 ? 'kernel' : 'kernels'} ${names.slice(0, 6).join(', ')}${names.length > 6 ? ` and ${names.length - 6} more` : ''} from ${data.source} · ${data.mode} mode on machine ${m.name}: ${m.sms} SMs, warps of ${m.warp_size}, ${m.clusters.length} clusters, ${m.clock_mhz} MHz`),
    make('p', { class: 'command soft' }, make('code', {}, data.command)),
    data.partial ? make('p', { class: 'failures' }, data.partial) : null,
    data.mismatches.length ? make('ul', { class: 'failures' }, data.mismatches.map(([b, why]) => make('li', {}, `buffer ${b}: ${why}`))) : null);
}

const sections = [['summary', 'Summary'], ['timeline', 'Time line'], ['scalar', 'Scalar share'], ['registers', 'Registers'], ['caches', 'Caches'], ['energy', 'Energy'], ['roofline', 'Roofline'], ['flow', 'Control flow'], ['live', 'Live ranges'], ['code', 'Code']];

function navigation() {
  const bar = make('nav', { 'aria-label': 'Parts of the report' }, sections.map(([id, name]) => make('a', { href: `#${id}` }, name)));
  if (data.launches.length > 1) {
    const select = make('select', { onchange: e => { state.launch = Number(e.target.value); summary(); charts.forEach(c => c.redraw()); } },
      make('option', { value: -1 }, 'all launches'), data.launches.map((l, i) => make('option', { value: i }, `${i + 1}: ${l.kernel}${l.repeat > 1 ? ` × ${l.repeat}` : ''}`)));
    bar.prepend(make('label', {}, 'Figures of ', select));
  }
  return bar;
}

function kernelControls() {
  if (data.kernels.length < 2) return null;
  const select = make('select', { class: 'kernel', 'aria-label': 'kernel', onchange: e => {
    state.kernel = Number(e.target.value);
    document.querySelectorAll('select.kernel').forEach(s => { s.value = e.target.value; });
    charts.filter(c => ['flow', 'live', 'code'].includes(c.name)).forEach(c => c.redraw());
  } }, data.kernels.map((k, i) => make('option', { value: i }, k.name)));
  return make('label', { class: 'soft' }, 'kernel ', select);
}

const place = make('section', { id: 'summary', 'aria-label': 'Summary' });
function summary() { place.replaceChildren(tiles(), findings()); }

const partial = data.timeline && data.timeline.recorded_cycles < data.total.timing.cycles
  ? ` The first ${data.timeline.segments.length} launches are shown, ${percent(data.timeline.recorded_cycles, data.total.timing.cycles)} of the cycles.` : '';

const grid = make('div', { class: 'grid' },
  chart('timeline', 'Time line', `Where the issue slots went and what warps waited for, all SMs together, averaged over each span of cycles. Misses and what is read for data are of loads, atomics and images; memory is also read for instructions and arguments.${partial}`, timeline, { wide: true, controls: timeControls }),
  make('div', { class: 'column' },
    chart('scalar', 'Scalar share, against the oracle', 'The oracle is a run-time comparison of all lanes: everything whose active lanes have the same operands, and that the scalar unit could run. Branches, barriers and ends are left out.', scalarShare),
    chart('registers', 'Register-file accesses', '32-bit accesses of a lane; scalar registers: of a warp; predicates: bits.', registerFiles),
    chart('caches', 'Cache levels', 'What became of reads, in sectors (instructions: in lines), all SMs together.', caches),
    chart('traffic', 'Traffic between the levels', 'Bytes; the thickness of an arrow is its share of the largest. Between lanes and L1: sectors that coalesced accesses touched; stores to global memory go past L1.', traffic),
    chart('latency', 'Latency of loads', 'Cycles from issue to data, of loads from global, constant and private memory.', latencies)),
  make('div', { class: 'column' },
    chart('energy', 'Energy by component', 'Counts times the machine description’s energies.', energy),
    chart('roofline', 'Roofline', 'Operations are active lanes of executed arithmetic instructions, a multiply-add as two, what ran on the scalar unit once.', roofline),
    chart('mix', 'Instructions by class', 'Warp instructions executed.', instructionMix)),
  chart('flow', 'Control flow', 'Blocks of machine code: how often warps executed them, and with which share of their lanes.', controlFlow, { wide: true, tall: true, controls: kernelControls }),
  chart('live', 'Live ranges by register file', 'From left to right the instructions as they were scheduled; a bar is a register that holds a value still to be read, a tick is a write, dotted lines are starts of blocks.', liveRanges, { wide: true, tall: true, controls: kernelControls }),
  codeFigure());

const main = document.getElementById('report');
summary();
main.append(header(), navigation(), place, grid,
  make('footer', {}, make('p', {}, `All figures were counted while the simulator ran; none is estimated from the code. Heddle ${data.version}; machine ${data.machine.name}: ${data.machine.description.trim()} Host: compiled in ${(data.host_seconds.compile * 1000).toFixed(0)} ms, simulated in ${(data.host_seconds.simulate * 1000).toFixed(0)} ms.`)));
charts.forEach(c => c.redraw());
let waiting = 0;
addEventListener('resize', () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => charts.forEach(c => c.resize())); });
root.dataset.fits = String(root.scrollWidth <= root.clientWidth);
root.dataset.ready = String(charts.length);
