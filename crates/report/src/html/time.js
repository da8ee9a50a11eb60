
// The time line: issue slots, stalls, memory and SMs over the launches' cycles.

/** Adds neighbours until there are at most `most` buckets. */
function coarser(segment, most) {
  const pairs = list => list.reduce((out, n, i) => { if (i % 2) out[out.length - 1] += n; else out.push(n); return out; }, []);
  let s = segment;
  while (s.lanes.length > Math.max(1, most)) {
    s = { ...s, width: s.width * 2, issued: s.issued.map(pairs), stalls: s.stalls.map(pairs), lanes: pairs(s.lanes), sectors: pairs(s.sectors), misses: pairs(s.misses), far: pairs(s.far) };
  }
  return s;
}

/** Buckets to draw: start and end in cycles, and every column. */
function buckets(width) {
  const all = data.timeline.segments;
  const chosen = state.segment < 0 ? all : [all[state.segment]];
  const cycles = Math.max(1, sum(chosen.map(s => s.cycles)));
  const most = Math.max(40, Math.min(400, width / 2));
  const out = [];
  const starts = [];
  let at = 0;
  for (const original of chosen) {
    const s = coarser(original, Math.ceil(most * original.cycles / cycles));
    starts.push([at, original.kernel]);
    for (let i = 0; i < s.lanes.length; i += 1) {
      const end = Math.min((i + 1) * s.width, original.cycles);
      const pick = list => list.map(c => c[i]);
      if (end > i * s.width) out.push({ from: at + i * s.width, to: at + end, issued: pick(s.issued), stalls: pick(s.stalls), lanes: s.lanes[i], sectors: s.sectors[i], misses: s.misses[i], far: s.far[i] });
    }
    at += original.cycles;
  }
  return { list: out, starts, cycles, chosen };
}

function timeControls() {
  const t = data.timeline;
  if (!t || t.segments.length < 2) return null;
  const select = make('select', { onchange: e => { state.segment = Number(e.target.value); charts.find(c => c.name === 'timeline').redraw(); } },
    make('option', { value: -1 }, `all ${t.segments.length} launches`), t.segments.map((s, i) => make('option', { value: i }, `${i + 1}: ${s.kernel}`)));
  return make('label', { class: 'soft' }, 'launch ', select);
}

function timeline(width) {
  const t = data.timeline;
  if (!t) return noTime('time passes only in');
  const { list, starts, cycles, chosen } = buckets(width);
  if (list.length === 0) return 'Nothing was issued.';
  const m = data.machine;
  const slots = [...m.clusters, 'scalar unit', 'control'];
  const slotColours = [...m.clusters.map((_, i) => [0, 6, 4, 5, 7, 3][i % 6]), 2, 8];
  // The largest cause lies at the bottom.
  const order = t.causes.map((_, k) => k).sort((a, b) => sum(list.map(c => c.stalls[b])) - sum(list.map(c => c.stalls[a])));
  const causes = order.map(k => t.causes[k]);
  const causeColours = order.map(k => [1, 0, 4, 3, 5, 2, 6, 7][k]);
  for (const b of list) b.stalls = order.map(k => b.stalls[k]);
  const left = 44, right = 8;
  const X = c => left + c / cycles * (width - left - right);
  const svg = draw('svg', { width, tabindex: '0', style: 'cursor:crosshair' });
  const slotFills = paints(svg, slots, slotColours);
  const causeFills = paints(svg, causes, causeColours);
  let y = starts.length > 1 ? 16 : 0;
  const titles = [];
  const panel = (name, height, rows, fills) => {
    y += 25;
    const top = y;
    const values = list.map(b => rows(b).map(n => n / (b.to - b.from)));
    const most = Math.max(...values.map(sum));
    if (!(most > 0)) {
      // Nothing to draw, and no scale for it.
      titles.push(label(0, top - 10, `${name}: none`, { 'font-weight': 600, class: 'halo' }));
      y = top - 10;
      return;
    }
    const scale = ticks(most, height > 80 ? 4 : 2);
    const limit = Math.max(most, scale[scale.length - 1]);
    const Y = v => top + height - v / limit * height;
    titles.push(label(0, top - 10, name, { 'font-weight': 600, class: 'halo' }));
    for (const v of scale) {
      svg.append(draw('line', { class: 'axis', x1: left, x2: width - right, y1: Y(v), y2: Y(v) }));
      svg.append(label(left - 6, Y(v) + 4, tick(v, apart(scale)), { 'text-anchor': 'end', class: 'soft', 'font-size': 11 }));
    }
    const base = list.map(() => 0);
    fills.forEach((paint, k) => {
      let path = '';
      let any = false;
      const upper = list.map((b, i) => base[i] + values[i][k]);
      list.forEach((b, i) => { path += `${i ? 'L' : 'M'}${X(b.from).toFixed(1)},${Y(upper[i]).toFixed(1)}H${X(b.to).toFixed(1)}`; any ||= values[i][k] > 0; });
      for (let i = list.length - 1; i >= 0; i -= 1) path += `L${X(list[i].to).toFixed(1)},${Y(base[i]).toFixed(1)}H${X(list[i].from).toFixed(1)}`;
      if (any) svg.append(draw('path', { class: 'mark', d: `${path}Z`, style: `fill:${paint}` }));
      upper.forEach((v, i) => { base[i] = v; });
    });
    y = top + height;
  };
  const narrow = width < 560;
  panel('Instructions issued a cycle, by slot', narrow ? 110 : 130, b => b.issued, slotFills);
  y += 6;
  panel('Warps that wait, by cause', narrow ? 110 : 130, b => b.stalls, causeFills);
  y += 6;
  panel('L1 misses a cycle, sectors', 46, b => [b.misses], ['var(--s1)']);
  y += 6;
  panel('Data read from memory, bytes a cycle', 46, b => [b.far * m.sector_bytes], ['var(--s0)']);
  // SMs as rows, darker with more instructions a cycle.
  y += 26;
  titles.push(label(0, y - 7, 'Instructions a cycle of each SM', { 'font-weight': 600, class: 'halo' }));
  const sms = chosen[0].busy.length;
  const row = Math.max(2, Math.min(12, Math.floor(150 / sms)));
  const peak = Math.max(...chosen.flatMap(s => s.busy.flatMap(b => b.map(n => n / s.busy_width))), 1e-9);
  const every = Math.ceil(sms / Math.floor(sms * row / 12 || 1));
  const shades = 5;
  let offset = 0;
  const rows = Array.from({ length: sms }, () => Array(shades + 1).fill(''));
  for (const s of chosen) {
    s.busy.forEach((b, sm) => b.forEach((n, i) => {
      const end = Math.min((i + 1) * s.busy_width, s.cycles);
      const shade = Math.ceil(n / (end - i * s.busy_width) / peak * shades);
      if (n > 0 && end > i * s.busy_width) rows[sm][Math.min(shade, shades)] += `M${X(offset + i * s.busy_width).toFixed(1)},${y + sm * row}H${Math.max(X(offset + end), X(offset + i * s.busy_width) + 1.2).toFixed(1)}V${y + (sm + 1) * row - 1}H${X(offset + i * s.busy_width).toFixed(1)}Z`;
    }));
    offset += s.cycles;
  }
  rows.forEach((shadesOf, sm) => {
    if (sm % every === 0) svg.append(label(left - 6, y + sm * row + Math.min(10, row), `SM ${sm}`, { 'text-anchor': 'end', class: 'soft', 'font-size': 10 }));
    shadesOf.forEach((d, k) => { if (d) svg.append(draw('path', { class: 'mark', d, style: `fill:var(--heat);fill-opacity:${(0.2 + 0.8 * k / shades).toFixed(2)}` })); });
  });
  y += sms * row + 4;
  // Where launches start; named where there is room.
  (starts.length > 1 ? starts : []).forEach(([start, kernel], i) => {
    const name = `${i + 1}: ${kernel}`;
    const room = X(i + 1 < starts.length ? starts[i + 1][0] : cycles) - X(start);
    svg.append(draw('line', { class: 'rule', x1: X(start), x2: X(start), y1: 2, y2: y, style: 'stroke:var(--soft)' }, hint(name)));
    const shown = [name, String(i + 1)].find(n => 6.8 * n.length + 8 < room);
    if (shown) svg.append(label(X(start) + 4, 11, shown, { class: 'soft', 'font-size': 11 }));
  });
  svg.append(...titles);
  const spans = ticks(cycles, narrow ? 3 : 8);
  for (const v of spans) {
    svg.append(draw('line', { class: 'axis', x1: X(v), x2: X(v), y1: y, y2: y + 5 }));
    svg.append(label(X(v), y + 17, tick(v, apart(spans)), { 'text-anchor': X(v) > width - 30 ? 'end' : 'middle', class: 'soft' }));
  }
  y += 34;
  svg.append(label(width - right, y - 2, 'cycles', { 'text-anchor': 'end', class: 'soft' }));
  svg.setAttribute('height', y + 4);
  // A cursor, by pointer or arrow keys.
  const cursor = draw('rect', { y: 14, height: y - 48, x: 0, width: 1, style: 'fill:var(--ink);fill-opacity:.12;pointer-events:none', visibility: 'hidden' });
  svg.append(cursor);
  const readout = make('p', { class: 'readout', 'aria-live': 'polite' }, 'Point at the time line, or move along it with the arrow keys.');
  let at = -1;
  const show = i => {
    at = Math.max(0, Math.min(list.length - 1, i));
    const b = list[at];
    const span = b.to - b.from;
    cursor.setAttribute('visibility', 'visible');
    cursor.setAttribute('x', X(b.from));
    cursor.setAttribute('width', Math.max(1, X(b.to) - X(b.from)));
    const named = (values, names) => values.map((n, k) => [n / span, names[k]]).filter(([n]) => n > 0).sort((a, c) => c[0] - a[0]).map(([n, name]) => `${name} ${rate(n)}`).join(', ');
    const lanes = sum(b.issued) > 0 ? `, ${(b.lanes / sum(b.issued)).toFixed(1)} lanes active` : '';
    readout.replaceChildren(make('b', {}, `cycles ${group(b.from)} – ${group(b.to - 1)}: `),
      `${rate(sum(b.issued) / span)} issued a cycle${lanes} (${named(b.issued, slots) || 'none'}); ${rate(sum(b.stalls) / span)} warps wait (${named(b.stalls, causes) || 'none'}); ${group(b.misses)} of ${group(b.sectors)} sectors missed L1, ${bytes(b.far * m.sector_bytes)} from memory`);
  };
  svg.addEventListener('pointermove', e => {
    const c = (e.clientX - svg.getBoundingClientRect().left - left) / (width - left - right) * cycles;
    const i = list.findIndex(b => c >= b.from && c < b.to);
    if (i >= 0) show(i);
  });
  svg.addEventListener('keydown', e => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[e.key];
    if (step) { e.preventDefault(); show(at + step); }
  });
  const key = make('div', { class: 'keys' }, make('b', {}, 'Slots'), legend(slots, slotColours), make('b', {}, 'Causes'), legend(causes, causeColours));
  const issued = slots.map((n, k) => `${n} ${group(sum(list.map(b => b.issued[k])))}`);
  return {
    svg, key: make('div', {}, key, readout),
    summary: `${group(cycles)} cycles; issued: ${issued.join(', ')}`,
    table: [['cycles', ...slots, ...causes.map(c => `waits: ${c}`), 'sectors', 'L1 misses', 'bytes of data from memory'],
      list.map(b => [`${group(b.from)} – ${group(b.to - 1)}`, ...b.issued.map(group), ...b.stalls.map(group), group(b.sectors), group(b.misses), group(b.far * m.sector_bytes)])],
  };
}
