// Clock, options, faults and tokens: what can be moved, switched and broken.
import {byID, el, say} from './dom.js';
import {call} from './api.js';
import {instant} from './cell.js';

async function attempt(what, done) {
  try {
    await what();
    if (done) say(done);
  } catch (refusal) {
    say(refusal.message, true);
  }
}

// Clock.

let ahead = 0; // milliseconds from the browser's clock to the sandbox's

function tell() {
  const now = new Date(Date.now() + ahead).toISOString();
  byID('clock').textContent = `${now.slice(11, 19)} UTC`;
  byID('bigclock').textContent = instant(now.slice(0, 19));
}

function startClock() {
  setInterval(tell, 1000);
  for (const button of document.querySelectorAll('[data-advance]')) {
    button.addEventListener('click', () => attempt(() => call('POST', '/clock', {advance: button.dataset.advance})));
  }
  byID('clock-form').addEventListener('submit', event => {
    event.preventDefault();
    const text = event.target.elements.now.value;
    if (text === '') return say('Choose a date and a time first.', true);
    attempt(() => call('POST', '/clock', {now: new Date(`${text}Z`).toISOString()}), 'The clock is set.');
  });
  byID('real-time').addEventListener('click', () => attempt(() => call('POST', '/clock', {offset: '0s'}), 'The clock shows the real time.'));
}

function showClock(view) {
  ahead = Date.parse(view.now) - Date.now();
  byID('offset').textContent = view.offset === '0s' ? 'That is the real time.' : `That is ${view.offset} from the real time.`;
  tell();
}

// Options.

function startOptions() {
  byID('option-form').addEventListener('submit', event => event.preventDefault());
  byID('option-form').addEventListener('change', ({target}) => {
    const kind = target.closest('[data-kind]').dataset.kind;
    let value = target.type === 'checkbox' ? target.checked : target.value;
    if (kind === 'count' || (kind === 'choice' && /^\d+$/.test(value))) value = Number(value);
    attempt(() => call('PATCH', '/options', {[target.name]: value}), 'Switched.').then(() => showOptions(shownOptions));
  });
}

let shownOptions = {};

function showOptions(options) {
  shownOptions = options;
  for (const knob of byID('option-form').elements) {
    if (!knob.name || knob === document.activeElement) continue;
    if (knob.type === 'checkbox') knob.checked = options[knob.name];
    else knob.value = options[knob.name];
  }
}

// Faults.

// Updates and upserts are PATCHes.
const presets = {
  limit: {status: 429},
  outage: {status: 503, times: 3},
  landed: {method: 'PATCH', status: 503, after_apply: true},
  cut: {method: 'PATCH', drop: true, after_apply: true},
  late: {method: 'PATCH', drop: true, apply_later: '30s'},
  slow: {delay: '10s'},
};

function startFaults() {
  for (const button of document.querySelectorAll('[data-preset]')) {
    button.addEventListener('click', () => attempt(
      () => call('POST', '/faults', presets[button.dataset.preset]), 'The fault is armed.'));
  }
  byID('clear-faults').addEventListener('click', () => attempt(() => call('DELETE', '/faults')));
  byID('fault-form').addEventListener('submit', event => {
    event.preventDefault();
    attempt(() => call('POST', '/faults', own(event.target.elements)), 'The fault is armed.');
  });
}

function own(form) {
  const fault = {times: Number(form.times.value)};
  for (const name of ['method', 'table', 'contains', 'delay']) {
    if (form[name].value !== '') fault[name] = form[name].value;
  }
  if (form.effect.value === 'drop') fault.drop = true;
  else if (form.effect.value !== '') fault.status = Number(form.effect.value);
  if (form.landing.value === 'after_apply') fault.after_apply = true;
  if (form.landing.value === 'apply_later') fault.apply_later = '30s';
  return fault;
}

function faultLine(fault) {
  const which = [fault.method || 'any method', fault.table && `table ${fault.table}`, fault.contains && `containing “${fault.contains}”`];
  const what = [fault.delay && `held ${fault.delay}`, fault.after_apply && 'lands first', fault.drop ? 'connection cut' : fault.status && `answered ${fault.status}`,
    fault.apply_later && `lands ${fault.apply_later} later`, fault.answer_delay && `answer held ${fault.answer_delay}`];
  return el('li', {}, el('div', {class: 'what'}, el('b', {}, `Fault ${fault.id}`), ` · ${which.filter(Boolean).join(', ')}`),
    el('div', {}, what.filter(Boolean).join(', ')),
    el('div', {class: 'by'}, fault.times < 0 ? 'without end' : `${fault.times} left`, fault.skip ? `, after ${fault.skip} more` : ''));
}

let shownFaults = '', shownTokens = '', shownTables = '';

function showFaults(view) {
  const faults = JSON.stringify(view.faults), tokens = JSON.stringify(view.tokens);
  const names = [...new Set(view.bases.flatMap(base => base.tables.map(t => t.name)))];
  if (faults !== shownFaults) {
    byID('fault-list').replaceChildren(...view.faults.map(faultLine));
    if (!view.faults.length) byID('fault-list').append(el('li', {class: 'nothing'}, 'No fault is armed.'));
  }
  if (tokens !== shownTokens) byID('token-list').replaceChildren(...view.tokens.map(tokenLine));
  if (JSON.stringify(names) !== shownTables) {
    const select = byID('fault-form').elements.table, chosen = select.value;
    select.replaceChildren(el('option', {value: ''}, 'any'), ...names.map(name => el('option', {value: name}, name)));
    select.value = chosen;
  }
  [shownFaults, shownTokens, shownTables] = [faults, tokens, JSON.stringify(names)];
}

function tokenLine(token) {
  const select = el('select', {onchange: event => attempt(() => call('POST', '/tokens', {token: token.label, state: event.target.value}), 'Switched.')},
    ...[['valid', 'valid'], ['revoked', 'revoked: 401'], ['forbidden', 'forbidden: 403']].map(([value, text]) => el('option', {value}, text)));
  select.value = token.state;
  return el('label', {}, `${token.label} `, select);
}

export function startControls() {
  startClock();
  startOptions();
  startFaults();
}

export function showControls(view) {
  showClock(view);
  showOptions(view.options);
  showFaults(view);
}
