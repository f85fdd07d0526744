// The report's own script: a window of the table, the details of one case, keys. It never parses text as markup:
// everything a model wrote becomes a text node. The shapes of the data are made in report-rows.ts.
(() => {
  const rowHeight = 34;
  const overscan = 12;
  const byId = (id) => document.getElementById(id);
  const [NUMBER, NAME, COLUMN, REPEAT, STATUS, SCORE, TURNS, LATENCY, COST, REASON, OUTPUT, CHANGE] = Array(12).keys();
  const rows = [];
  for (const block of document.querySelectorAll('script.rows')) {
    for (const row of JSON.parse(block.textContent)) rows.push(row);
    block.remove();
  }
  const models = new Map(
    JSON.parse(byId('columns').textContent).map(([position, provider, prompt]) => [position, { provider, prompt }]),
  );
  const [scroller, body, pane] = [byId('scroller'), byId('body'), byId('case')];

  function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === undefined || value === false) continue;
      if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? '' : String(value));
    }
    node.append(...children.filter((child) => child !== undefined && child !== ''));
    return node;
  }

  const modelOf = (row) => models.get(row[COLUMN])?.provider ?? '';
  const time = (ms) =>
    ms < 100
      ? `${Math.round(ms)} ms`
      : ms < 60000
        ? `${(ms / 1000).toFixed(1)} s`
        : `${Math.floor(ms / 60000)}:${String(Math.round((ms % 60000) / 1000) % 60).padStart(2, '0')}`;
  const price = (micros) =>
    micros === null
      ? 'unknown'
      : micros !== 0 && micros < 10000
        ? `$${(micros / 1e6).toFixed(4)}`
        : `$${(micros / 1e6).toFixed(2)}`;
  const words = {
    passed: 'passed',
    failed: 'FAILED',
    error: 'ERROR',
    skipped: 'skipped',
    cancelled: 'cancelled',
    open: 'open',
  };
  const changes = { b: 'better', w: 'WORSE', '': '' };
  const isBad = (row) => row[STATUS] === 'failed' || row[STATUS] === 'error';

  // ---- which rows, in which order ----------------------------------------------------------------------------------
  const view = { filter: 'all', model: '', query: '', sort: NUMBER, down: false };
  let shown = rows.map((_, at) => at);
  let chosen = -1;

  const filters = [
    ['all', 'all', () => true],
    ['failed', 'failed', (row) => row[STATUS] === 'failed'],
    ['errors', 'errors', (row) => row[STATUS] === 'error'],
    ['passed', 'passed', (row) => row[STATUS] === 'passed'],
    ['worse', 'worse than before', (row) => row[CHANGE] === 'w'],
    ['better', 'better than before', (row) => row[CHANGE] === 'b'],
  ];
  const fields = {
    status: (row) => row[STATUS],
    name: (row) => row[NAME],
    model: modelOf,
    reason: (row) => row[REASON],
    output: (row) => row[OUTPUT],
    case: (row) => String(row[NUMBER]),
  };

  /** Words that must all occur; `field:value` looks in one field, quotes keep words together. */
  function matcher(query) {
    const parts = (query.toLowerCase().match(/(?:[a-z]+:)?"[^"]*"|\S+/g) ?? []).map((part) => {
      const [, name, rest] = /^([a-z]+):(.*)$/.exec(part) ?? [];
      const field = name === undefined ? undefined : fields[name];
      return { field, text: (field === undefined ? part : rest).replaceAll('"', '') };
    });
    return (row) =>
      parts.every(({ field, text }) => {
        if (field === fields.case) return field(row) === text;
        const where =
          field === undefined
            ? `#${row[NUMBER]} ${row[NAME]} ${modelOf(row)} ${row[STATUS]} ${row[REASON]} ${row[OUTPUT]}`
            : field(row);
        return where.toLowerCase().includes(text);
      });
  }

  const columns = [
    ['no', NUMBER, '5.5em', (row) => `#${row[NUMBER]}${row[REPEAT] > 0 ? `.${row[REPEAT] + 1}` : ''}`, 'number'],
    ['case', NAME, '', (row) => row[NAME], ''],
    ['model', COLUMN, '17%', modelOf, 'soft'],
    ['verdict', STATUS, '6.5em', (row) => words[row[STATUS]] ?? row[STATUS], 'status'],
    ['score', SCORE, '5em', (row) => (row[SCORE] === null ? '-' : row[SCORE].toFixed(2)), 'number'],
    ['turns', TURNS, '5em', (row) => (row[TURNS] === 0 ? '' : String(row[TURNS])), 'number'],
    ['time', LATENCY, '5.5em', (row) => time(row[LATENCY]), 'number'],
    ['cost', COST, '6em', (row) => price(row[COST]), 'number'],
    ['why', REASON, '24%', (row) => row[REASON] || row[OUTPUT], 'soft'],
  ];
  const compared = rows.some((row) => row[CHANGE] !== '');
  if (compared) columns.splice(4, 0, ['change', CHANGE, '5.5em', (row) => changes[row[CHANGE]], 'change']);

  /** Beside an open case there is room for what finds a row again. */
  const dropped = new Set(['why', 'turns', 'score', 'cost']);
  const visible = () => (pane.hidden ? columns : columns.filter(([title]) => !dropped.has(title)));

  function compare(left, right) {
    const [a, b] = [rows[left][view.sort], rows[right][view.sort]];
    if (a === b) return left - right;
    if (a === null) return 1;
    if (b === null) return -1;
    const order = typeof a === 'number' ? a - b : a < b ? -1 : 1;
    return view.down ? -order : order;
  }

  function refresh() {
    const filter = filters.find(([name]) => name === view.filter)?.[2] ?? (() => true);
    const matches = matcher(view.query);
    const keep = (row) => filter(row) && (view.model === '' || modelOf(row) === view.model) && matches(row);
    const before = shown[chosen];
    shown = [];
    for (let at = 0; at < rows.length; at++) if (keep(rows[at])) shown.push(at);
    if (view.sort !== NUMBER || view.down) shown.sort(compare);
    chosen = before === undefined ? -1 : shown.indexOf(before);
    byId('count').textContent = `${shown.length} of ${rows.length} cases`;
    byId('table').setAttribute('aria-rowcount', String(shown.length + 1));
    for (const button of byId('filters').children)
      button.setAttribute('aria-pressed', String(button.dataset.filter === view.filter));
    paintHeads();
    paint(true);
  }

  // ---- the table: only what can be seen is in the page -------------------------------------------------------------
  let painted = { from: -1, to: -1 };

  function paintHeads() {
    const heads = visible().map(([title, field, width, , kind]) => {
      const active = view.sort === field;
      const arrow = active ? (view.down ? ' ▾' : ' ▴') : '';
      const sort = () => {
        view.down = view.sort === field ? !view.down : false;
        view.sort = field;
        refresh();
        byId('heads').children[visible().findIndex((column) => column[1] === field)].firstChild.focus();
      };
      const head = element(
        'th',
        {
          scope: 'col',
          class: kind === 'number' ? 'number' : undefined,
          'aria-sort': active ? (view.down ? 'descending' : 'ascending') : undefined,
        },
        element('button', { type: 'button', onclick: sort }, title + arrow),
      );
      if (width !== '') head.style.width = width;
      return head;
    });
    byId('heads').replaceChildren(...heads);
  }

  function line(position) {
    const row = rows[shown[position]];
    const cells = visible().map(([, , , text, kind]) => {
      const style = kind === 'status' ? row[STATUS] : kind === 'change' ? (row[CHANGE] === 'w' ? 'worse' : '') : kind;
      return element('td', { class: style || undefined, role: 'gridcell' }, text(row));
    });
    return element(
      'tr',
      {
        'data-at': position,
        'aria-rowindex': position + 2,
        'aria-selected': String(position === chosen),
        tabindex: position === chosen || (chosen < 0 && position === 0) ? 0 : -1,
      },
      ...cells,
    );
  }

  function gap(height) {
    const cell = element('td', { colspan: visible().length });
    cell.style.height = `${height}px`;
    return element('tr', { class: 'gap', 'aria-hidden': 'true' }, cell);
  }

  function paint(force) {
    const from = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - overscan);
    const to = Math.min(shown.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / rowHeight) + overscan);
    if (!force && from === painted.from && to === painted.to) return;
    const hadFocus = body.contains(document.activeElement);
    painted = { from, to };
    const lines = [];
    for (let position = from; position < to; position++) lines.push(line(position));
    body.replaceChildren(gap(from * rowHeight), ...lines, gap((shown.length - to) * rowHeight));
    if (hadFocus) body.querySelector('tr[aria-selected="true"]')?.focus({ preventScroll: true });
  }

  function choose(position, focus) {
    if (shown.length === 0) return;
    chosen = Math.max(0, Math.min(shown.length - 1, position));
    const head = byId('heads').offsetHeight;
    const top = chosen * rowHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + scroller.clientHeight - head)
      scroller.scrollTop = top + rowHeight - scroller.clientHeight + head;
    paint(true);
    if (focus) body.querySelector('tr[aria-selected="true"]')?.focus({ preventScroll: true });
    if (!pane.hidden) open(chosen);
  }

  // ---- one case ------------------------------------------------------------------------------------------------------
  const blocks = [...document.querySelectorAll('script.details')];
  const firsts = blocks.map((block) => Number(block.dataset.first));
  let unpacked = { block: -1, details: [] };

  async function detailOf(at) {
    let block = firsts.length - 1;
    while (block > 0 && firsts[block] > at) block--;
    if (unpacked.block !== block) {
      const bytes = Uint8Array.from(atob(blocks[block].textContent), (character) => character.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      unpacked = { block, details: JSON.parse(await new Response(stream).text()) };
    }
    return unpacked.details[at - firsts[block]];
  }

  let folded = recall('folded') !== 'no';

  function recall(name) {
    try {
      return localStorage.getItem(`parlane-${name}`);
    } catch {
      return null;
    }
  }

  function remember(name, value) {
    try {
      localStorage.setItem(`parlane-${name}`, value);
    } catch {
      // A page from disk may have no storage; then it is forgotten.
    }
  }

  const short = (text) => (text.length > 90 ? `${text.slice(0, 89)}…` : text);

  function toolNode(tool) {
    const mark = tool.kind === 'handoff' ? 'handoff' : tool.kind === 'end' ? 'end of call' : 'tool';
    const head = `${mark}: ${tool.name}(${short(tool.arguments)})${tool.result === '' ? '' : ` → ${short(tool.result.replace(/\s+/g, ' '))}`}`;
    const inner = [element('pre', { dir: 'auto' }, tool.arguments || '{}')];
    if (tool.result !== '') inner.push(element('pre', { dir: 'auto' }, tool.result));
    return element('details', { class: 'tool', open: !folded }, element('summary', {}, head), ...inner);
  }

  function entryNode(entry) {
    const marks = entry.marks ?? [];
    const timing =
      entry.ms === undefined ? '' : `${time(entry.ms)}${entry.queueMs > 50 ? `, queued ${time(entry.queueMs)}` : ''}`;
    const who = element(
      'div',
      { class: 'who' },
      element('div', {}, `${entry.turn} ${entry.side}`),
      entry.agent === '' ? '' : element('div', {}, entry.agent),
      timing === '' ? '' : element('div', {}, timing),
    );
    const text = entry.text === '' ? '' : element('p', { class: 'text', dir: 'auto' }, entry.text);
    const tools = entry.tools.map(toolNode);
    const said = element('div', {}, ...(entry.side === 'client' ? [text, ...tools] : [...tools, text]));
    for (const { check, what, pass } of marks)
      said.append(element('p', { class: 'here' }, `${pass ? '!' : '✗'} ${check}: ${what}`));
    return element('div', { class: `said ${entry.side}${marks.length > 0 ? ' broken' : ''}` }, who, said);
  }

  function checkNode(check) {
    const word =
      check.error !== undefined ? ['error', 'ERROR'] : check.pass ? ['passed', 'passed'] : ['failed', 'FAILED'];
    const at = check.turns === '' ? '' : ` ${check.turns}`;
    return element(
      'li',
      {},
      element('span', { class: word[0] }, word[1]),
      ` ${check.name}: ${check.error ?? check.reason}${at}`,
    );
  }

  function caseNodes(row, detail) {
    const facts = [
      words[row[STATUS]] ?? row[STATUS],
      modelOf(row),
      models.get(row[COLUMN])?.prompt ?? '',
      row[TURNS] > 0 ? `${row[TURNS]} turns` : '',
      time(row[LATENCY]),
      price(row[COST]),
    ];
    facts.push(
      detail.queueMs > 50 ? `queued ${time(detail.queueMs)}` : '',
      detail.attempts > 1 ? `${detail.attempts} attempts` : '',
    );
    facts.push(
      detail.inputTokens === undefined ? '' : `${detail.inputTokens} + ${detail.outputTokens ?? '?'} tokens`,
      detail.ended ? detail.ended.replaceAll('_', ' ') : '',
    );
    const nodes = [
      element('h3', {}, `#${row[NUMBER]} ${row[NAME]}`),
      element('p', { class: 'soft' }, facts.filter((fact) => fact !== '').join(' · ')),
    ];
    if (detail.error !== '') nodes.push(element('p', { class: 'here' }, detail.error));
    const checks =
      detail.checks.length === 0 ? '' : element('ul', { class: 'checks' }, ...detail.checks.map(checkNode));
    nodes.push(checks);
    if (detail.entries !== undefined) nodes.push(...detail.entries.map(entryNode));
    for (const [title, text] of [
      ['prompt', detail.prompt],
      ['output', detail.output],
    ]) {
      if (text !== '') nodes.push(element('h4', {}, title), element('p', { class: 'text', dir: 'auto' }, text));
    }
    return nodes;
  }

  function showPane(show) {
    pane.hidden = !show;
    pane.parentElement.classList.toggle('open', show);
    paintHeads();
    paint(true);
  }

  async function open(position) {
    const at = shown[position];
    if (at === undefined) return;
    if (pane.hidden) showPane(true);
    const detail = await detailOf(at);
    if (shown[chosen] !== at) return;
    pane.replaceChildren(...caseNodes(rows[at], detail));
    pane.scrollTop = 0;
    setHash(`#case-${rows[at][NUMBER]}`);
  }

  function close() {
    showPane(false);
    setHash('#results');
    body.querySelector('tr[aria-selected="true"]')?.focus({ preventScroll: true });
  }

  function setHash(hash) {
    try {
      history.replaceState(null, '', hash);
    } catch {
      // Some viewers do not allow it; the page works without.
    }
  }

  function openFromHash() {
    const number = Number(/^#case-(\d+)$/.exec(location.hash)?.[1] ?? Number.NaN);
    if (Number.isNaN(number)) return;
    const at = rows.findIndex((row) => row[NUMBER] === number);
    if (at < 0) return;
    if (!shown.includes(at)) {
      Object.assign(view, { filter: 'all', model: '', query: '' });
      byId('search').value = '';
      byId('model').value = '';
      refresh();
    }
    choose(shown.indexOf(at), false);
    open(chosen);
  }

  // ---- keys and controls ---------------------------------------------------------------------------------------------
  function nextBad() {
    for (let step = 1; step <= shown.length; step++) {
      const position = (Math.max(-1, chosen) + step) % shown.length;
      if (isBad(rows[shown[position]])) return choose(position, true);
    }
  }

  function foldAll() {
    folded = !folded;
    remember('folded', folded ? 'yes' : 'no');
    for (const tool of pane.querySelectorAll('details.tool')) tool.open = !folded;
  }

  const page = () => Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 2);
  function toggle() {
    if (!pane.hidden) return close();
    if (chosen < 0) choose(0, true);
    return open(chosen);
  }
  const keys = {
    j: () => choose(chosen + 1, true),
    k: () => choose(chosen - 1, true),
    n: nextBad,
    x: toggle,
    f: foldAll,
    '/': () => byId('search').focus(),
    Escape: () => !pane.hidden && close(),
  };
  const inList = {
    ArrowDown: keys.j,
    ArrowUp: keys.k,
    PageDown: () => choose(chosen + page(), true),
    PageUp: () => choose(chosen - page(), true),
    Home: () => choose(0, true),
    End: () => choose(shown.length - 1, true),
    Enter: toggle,
    ' ': toggle,
  };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches('input, select, textarea');
    if (typing && event.key !== 'Escape') return;
    if (typing) {
      event.target.blur();
      return choose(Math.max(0, chosen), true);
    }
    const action = keys[event.key] ?? (body.contains(event.target) ? inList[event.key] : undefined);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  body.addEventListener('click', (event) => {
    const row = event.target.closest('tr[data-at]');
    if (row === null) return;
    choose(Number(row.dataset.at), true);
    open(chosen);
  });
  scroller.addEventListener('scroll', () => requestAnimationFrame(() => paint(false)));
  addEventListener('resize', () => paint(false));
  addEventListener('hashchange', openFromHash);
  byId('search').addEventListener('input', (event) => {
    view.query = event.target.value;
    scroller.scrollTop = 0;
    refresh();
  });
  byId('model').addEventListener('change', (event) => {
    view.model = event.target.value;
    refresh();
  });

  function buildControls() {
    for (const [name, title, test] of filters) {
      const count = rows.reduce((sum, row) => sum + (test(row) ? 1 : 0), 0);
      if (count === 0 && name !== 'all' && name !== 'failed') continue;
      const press = () => {
        view.filter = name;
        scroller.scrollTop = 0;
        refresh();
      };
      byId('filters').append(
        element(
          'button',
          { type: 'button', 'data-filter': name, 'aria-pressed': 'false', onclick: press },
          `${title} ${count}`,
        ),
      );
    }
    const names = [...new Set([...models.values()].map(({ provider }) => provider))];
    for (const name of names) byId('model').append(element('option', { value: name }, name));
    if (names.length < 2) byId('model').parentElement.hidden = true;
  }

  const themes = ['system', 'dark', 'light'];
  function setTheme(theme) {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    byId('theme').textContent = `Theme: ${theme}`;
    remember('theme', theme);
  }
  let theme = themes.includes(recall('theme')) ? recall('theme') : 'system';
  setTheme(theme);
  byId('theme').addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
  });

  for (const id of ['theme', 'toolbar', 'scroller', 'keys']) byId(id).hidden = false;
  // Rows can be chosen from here on; without this script the element stays an ordinary table.
  byId('table').setAttribute('role', 'grid');
  buildControls();
  refresh();
  openFromHash();
})();
