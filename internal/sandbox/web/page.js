// The page: asks the sandbox for what there is, whenever something happened.
import {byID, el, say, tablist} from './dom.js';
import {call, follow, recordPath, view as ask} from './api.js';
import {Grid} from './grid.js';
import {RecordDialog} from './record.js';
import {changes, requests} from './logs.js';
import {showControls, startControls} from './controls.js';

const chosen = {base: '', table: '', rows: 100, find: ''};
let seen = null; // the latest view

// Writing, as the person that the page's user is.

const by = () => byID('person').value.trim() || 'Support agent';
const path = record => recordPath(chosen.base, chosen.table, record);

async function write(record, fields) {
  await call('PATCH', path(record), {fields, by: by()});
  await refresh();
}

const button = () => current()?.button ?? '';
const current = () => seen?.bases.find(b => b.id === chosen.base)?.tables.find(t => t.id === chosen.table);

async function press(record) {
  const fields = {[button()]: true};
  const asker = seen.grid.fields.find(f => f.name === 'Replay Requested By' && f.type === 'singleLineText');
  if (asker) fields[asker.id] = by();
  try {
    await write(record, fields);
    say('Replay is requested.');
  } catch (refusal) {
    say(refusal.message, true);
  }
}

function context(field) {
  return {
    people: seen.bases.find(b => b.id === chosen.base)?.people,
    linked: async find => {
      const found = (await ask({base: chosen.base, table: field.linked, rows: 200, find, requests_after: 1e9, changes_after: 1e9})).grid;
      return found.rows.map(row => ({id: row.id, title: row.cells[found.primary]?.text || 'Unnamed record'}));
    },
  };
}

const dialog = new RecordDialog({save: write, press, context, remove: record => call('DELETE', path(record))});

const grid = new Grid(byID('grid'), {
  edit: (record, field, value) => write(record, {[field.id]: value}),
  press, context,
  open: record => dialog.open(seen.grid, seen.grid.rows.find(r => r.id === record), button()),
  rename: async (field, name) => {
    await call('POST', '/fields', {base: chosen.base, table: chosen.table, field: field.id, rename_to: name});
    await refresh();
  },
});

// Showing.

const selectTable = tablist(byID('tabs'), tab => {
  Object.assign(chosen, {base: tab.dataset.base, table: tab.dataset.table, rows: 100, find: ''});
  byID('find').value = '';
  history.replaceState(null, '', `#${chosen.base}/${chosen.table}`);
  refresh();
});

const selectPanel = tablist(byID('panels'), tab => {
  for (const other of byID('panels').children) byID(other.getAttribute('aria-controls')).hidden = other !== tab;
});

function showTabs(bases) {
  const tables = bases.flatMap(base => base.tables.map(table => ({base, table})));
  const tabs = [...byID('tabs').children];
  const known = tabs.map(tab => `${tab.dataset.base}/${tab.dataset.table}`);
  if (JSON.stringify(known) !== JSON.stringify(tables.map(({base, table}) => `${base.id}/${table.id}`))) {
    byID('tabs').replaceChildren(...tables.map(({base, table}) => el('button', {type: 'button', role: 'tab', 'aria-controls': 'table',
      'data-base': base.id, 'data-table': table.id, 'aria-selected': 'false', tabindex: '-1'}, el('span', {class: 'tab-name'}), ' ', el('span', {class: 'count'}))));
  }
  tables.forEach(({base, table}, i) => {
    const tab = byID('tabs').children[i], here = chosen.base === base.id && chosen.table === table.id;
    tab.querySelector('.tab-name').textContent = bases.length > 1 ? `${base.name || base.id} / ${table.name}` : table.name;
    tab.querySelector('.count').textContent = String(table.records);
    tab.classList.toggle('letters', Boolean(table.button));
    tab.setAttribute('aria-selected', String(here));
    tab.tabIndex = here ? 0 : -1;
  });
}

function showGrid(view) {
  const shown = view.grid;
  if (!shown || shown.table !== chosen.table || shown.base !== chosen.base) return;
  byID('grid').setAttribute('aria-label', current().name);
  grid.show(shown, button());
  if (dialog.dialog.open) dialog.show(shown, button());
  byID('total').textContent = `${shown.total} ${shown.total === 1 ? 'record' : 'records'}${chosen.find ? ' found' : ''}`;
  byID('more').hidden = shown.rows.length >= shown.total;
  byID('empty').hidden = shown.total > 0;
  byID('empty').textContent = chosen.find ? 'No cell of this table reads so.' : 'This table is empty.';
}

let noticed = '[]';

function showNotices(view) {
  const notes = [];
  for (const base of view.bases.filter(b => b.blocked_until)) {
    notes.push(`The rate limit was passed: ${base.name || base.id} refuses everything until ${base.blocked_until.slice(11, 19)} UTC.`);
  }
  if (view.options.quota_exceeded) notes.push('The monthly limit is exceeded: every record call is refused.');
  if (view.faults.length) notes.push(view.faults.length === 1 ? 'A fault waits for a request.' : `${view.faults.length} faults wait for requests.`);
  for (const token of view.tokens.filter(t => t.state !== 'valid')) notes.push(`Token ${token.label} is ${token.state}.`);
  if (JSON.stringify(notes) === noticed) return;
  noticed = JSON.stringify(notes);
  byID('notices').replaceChildren(...notes.map(text => el('li', {}, text)));
}

// Asking. One question at a time; what happens meanwhile leads to one more.

let asking = null, again = false;

/** refresh resolves when the page shows what there was at the time of the call, or later. */
function refresh() {
  again = true;
  asking ??= askAll().catch(failure => live('lost', failure.message)).finally(() => { asking = null; });
  return asking;
}

async function askAll() {
  while (again) {
    again = false;
    show(await ask({...chosen, requests_after: requests.after(), changes_after: changes.after()}));
  }
}

function show(view) {
  seen = view;
  changes.add(view.changes);
  requests.add(view.requests, view.first_request);
  showTabs(view.bases);
  showGrid(view);
  showNotices(view);
  showControls(view);
  const names = new Set(view.bases.flatMap(b => b.people.map(p => p.name).filter(Boolean)));
  byID('people').replaceChildren(...[...names].map(name => el('option', {value: name})));
}

// begin chooses the table that the address names, or the one with dead letters.
function begin() {
  const tabs = [...byID('tabs').children];
  const wanted = location.hash.slice(1);
  const tab = tabs.find(t => `${t.dataset.base}/${t.dataset.table}` === wanted) ?? tabs.find(t => t.classList.contains('letters')) ?? tabs[0];
  if (tab) selectTable(tab, false);
}

function live(state, text) {
  byID('live').dataset.state = state;
  byID('live').textContent = text;
}

byID('find').addEventListener('input', event => {
  chosen.find = event.target.value;
  refresh();
});
byID('more').addEventListener('click', () => {
  chosen.rows += 100;
  refresh();
});
byID('add').addEventListener('click', async () => {
  try {
    const made = await call('POST', path(), {fields: {}, by: by()});
    chosen.find = byID('find').value = '';
    chosen.rows = Math.max(chosen.rows, seen.grid.total + 1);
    await refresh();
    grid.focusRecord(made.id);
  } catch (refusal) {
    say(refusal.message, true);
  }
});
byID('clear-requests').addEventListener('click', () => call('DELETE', '/requests').catch(refusal => say(refusal.message, true)));
byID('change-log').addEventListener('click', event => {
  const number = event.target.closest('[data-request]')?.dataset.request;
  if (!number) return;
  selectPanel(byID('tab-requests'), false);
  const line = byID(`request-${number}`);
  if (!line) return say(`Request ${number} is no longer in the log.`);
  line.querySelector('details')?.setAttribute('open', '');
  line.scrollIntoView({block: 'nearest'});
  line.focus();
});

startControls();
begin();
follow(refresh, connected => {
  if (connected) refresh();
  live(connected ? 'live' : 'lost', connected ? 'Live' : 'Connecting again');
});
setInterval(() => seen?.bases.some(b => b.blocked_until) && refresh(), 1000); // nothing else tells that a penalty is over
