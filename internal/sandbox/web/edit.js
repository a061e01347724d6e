// Editors for the cells: one per kind of field. Each has a node, a control that
// a label may point to, and read, which gives the value as the API takes it.
import {el} from './dom.js';

const long = ['multilineText', 'richText'];
const numeric = ['number', 'currency', 'percent', 'duration'];

/** editorFor makes the editor of a field. more: start (the text to begin with), people, linked (finds records to link). */
export function editorFor(field, cell, more = {}) {
  const editor = make(field, cell?.value, more);
  const before = JSON.stringify(editor.read());
  editor.changed = () => JSON.stringify(editor.read()) !== before;
  editor.control ??= editor.node;
  editor.focus ??= () => {
    editor.control.focus();
    editor.control.select?.();
  };
  return editor;
}

/** typable says whether editing may begin by typing a character. */
export const typable = field => !['singleSelect', 'multipleSelects', 'multipleRecordLinks', 'date', 'dateTime', 'rating',
  'checkbox', 'multipleCollaborators', 'singleCollaborator', 'multipleAttachments'].includes(field.type);

function make(field, value, more) {
  if (long.includes(field.type)) return lines(field, value, more);
  if (numeric.includes(field.type)) return number(field, value, more);
  switch (field.type) {
    case 'checkbox': return tick(value);
    case 'singleSelect': return oneOf(field, (field.choices ?? []).map(c => c.name), value);
    case 'rating': return rating(field, value);
    case 'multipleSelects': return picker(field, value, async () => (field.choices ?? []).map(c => ({id: c.name, title: c.name})));
    case 'multipleRecordLinks': return picker(field, value, more.linked);
    case 'date': return day(value);
    case 'dateTime': return instant(value);
    case 'singleCollaborator': return person(field, value, more);
    case 'multipleCollaborators': return team(field, value, more);
    case 'multipleAttachments': return files(value);
    case 'barcode': return barcode(field, value, more);
  }
  return text(value, more);
}

function text(value, more) {
  const node = el('input', {autocomplete: 'off', spellcheck: 'false'});
  node.value = more.start ?? value ?? '';
  return {node, read: () => (node.value === '' ? null : node.value)};
}

function lines(field, value, more) {
  const node = el('textarea', {rows: '5', spellcheck: 'false'});
  node.value = more.start ?? value ?? '';
  return {node, float: true, read: () => (node.value === '' ? null : node.value)};
}

function number(field, value, more) {
  const node = el('input', {inputmode: 'decimal', autocomplete: 'off'});
  node.value = more.start ?? value ?? '';
  const read = () => {
    const typed = node.value.trim();
    if (typed === '') return null;
    if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(typed)) throw new Error(`${field.name} takes a number such as 12.5.`);
    return Number(typed);
  };
  return {node, read: () => (typeof value === 'object' && node.value === '' ? null : read())};
}

function tick(value) {
  const node = el('input', {type: 'checkbox'});
  node.checked = value === true;
  return {node, read: () => (node.checked ? true : null)};
}

function oneOf(field, names, value) {
  const node = el('select', {}, el('option', {value: ''}, '–'), ...names.map(name => el('option', {value: name}, name)));
  node.value = value ?? '';
  return {node, read: () => (node.value === '' ? null : node.value)};
}

function rating(field, value) {
  const stars = Array.from({length: field.max ?? 5}, (_, i) => String(i + 1));
  const one = oneOf(field, stars, value === undefined ? '' : String(value));
  return {node: one.node, read: () => (one.read() === null ? null : Number(one.read()))};
}

function day(value) {
  const node = el('input', {type: 'date'});
  node.value = value ?? '';
  return {node, read: () => (node.value === '' ? null : node.value)};
}

// The browser would read the time in its own zone; cells are shown in UTC.
function instant(value) {
  const node = el('input', {type: 'datetime-local', step: '0.001', title: 'UTC'});
  node.value = value ? value.replace(/Z$/, '') : '';
  return {node, read: () => (node.value === '' ? null : new Date(`${node.value}Z`).toISOString())};
}

function barcode(field, value, more) {
  const plain = text(value?.text, more);
  return {node: plain.node, read: () => (plain.read() === null ? null : {...value, text: plain.read()})};
}

function person(field, value, more) {
  if (!more.people?.length) {
    const node = el('input', {type: 'email', placeholder: 'name@example.com', autocomplete: 'off'});
    node.value = value?.email ?? '';
    return {node, read: () => (node.value === '' ? null : {email: node.value})};
  }
  const node = el('select', {}, el('option', {value: ''}, '–'), ...more.people.map(p => el('option', {value: p.id}, p.name ?? p.email ?? p.id)));
  node.value = value?.id ?? '';
  return {node, read: () => (node.value === '' ? null : {id: node.value})};
}

function team(field, value, more) {
  if (more.people?.length) {
    const all = more.people.map(p => ({id: p.id, title: p.name ?? p.email ?? p.id}));
    const some = picker(field, value?.map(p => p.id), async () => all);
    return {...some, read: () => some.read()?.map(id => ({id})) ?? null};
  }
  const node = el('input', {placeholder: 'a@example.com, b@example.com', autocomplete: 'off'});
  node.value = (value ?? []).map(p => p.email ?? p.id).join(', ');
  const read = () => node.value.split(',').map(part => part.trim()).filter(Boolean).map(email => ({email}));
  return {node, read: () => (read().length ? read() : null)};
}

// One address per line; a line that still holds a file's own address keeps the file.
function files(value) {
  const held = value ?? [];
  const node = el('textarea', {rows: '4', placeholder: 'https://… one address per line', spellcheck: 'false'});
  node.value = held.map(file => file.url).join('\n');
  const read = () => node.value.split('\n').map(line => line.trim()).filter(Boolean).map(url => {
    const kept = held.find(file => file.url === url);
    return kept ? {id: kept.id} : {url};
  });
  return {node, float: true, read: () => (read().length ? read() : null)};
}

const manyChoices = 8;

// A list of boxes to tick, narrowed by what is typed.
function picker(field, value, find) {
  const chosen = [...(value ?? [])];
  const filter = el('input', {type: 'search', placeholder: 'Find', autocomplete: 'off', 'aria-label': `Find in ${field.name}`});
  const list = el('div', {class: 'choices'});
  const node = el('div', {class: 'picker', role: 'group', 'aria-label': field.name}, filter, list);
  const box = item => el('label', {}, el('input', {type: 'checkbox', checked: chosen.includes(item.id), onchange: event => {
    if (event.target.checked) chosen.push(item.id);
    else chosen.splice(chosen.indexOf(item.id), 1);
  }}), item.title);
  let asked = 0, drawn = null;
  const fill = async () => {
    const ask = ++asked;
    const found = await find(filter.value).catch(() => []);
    if (ask !== asked) return;
    const wanted = filter.value.toLowerCase();
    const shown = field.linked ? found : found.filter(item => item.title.toLowerCase().includes(wanted));
    const beyond = wanted === '' ? chosen.filter(id => !shown.some(item => item.id === id)).map(id => ({id, title: id})) : [];
    const items = [...beyond, ...shown];
    const key = JSON.stringify(items.map(item => item.id));
    if (key === drawn) return; // the focus may stand in the list by now
    drawn = key;
    list.replaceChildren(...items.map(box));
    if (!list.children.length) list.append(el('p', {class: 'hint'}, 'Nothing found.'));
    if (wanted === '' && !field.linked) filter.hidden = shown.length <= manyChoices;
  };
  filter.addEventListener('input', fill);
  const ready = fill();
  return {node, control: filter, float: true, ready, read: () => (chosen.length ? [...chosen] : null),
    focus: () => ready.then(() => (filter.hidden ? list.querySelector('input') : filter)?.focus())};
}
