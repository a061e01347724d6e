// Shows the value of a cell.
import {el} from './dom.js';

const glyphs = {
  singleLineText: 'A', multilineText: '¶', richText: '¶', email: '@', url: '⌁', phoneNumber: '☏', number: '#', currency: '$',
  percent: '%', duration: '◷', rating: '★', checkbox: '☑', singleSelect: '▾', multipleSelects: '▾', date: '▦', dateTime: '▦',
  multipleRecordLinks: '↗', multipleAttachments: '▤', barcode: '▥', singleCollaborator: '☺', multipleCollaborators: '☺',
  button: '▣', autoNumber: 'n', createdTime: '▦', lastModifiedTime: '▦',
};

/** glyph is the sign of a field's type. */
export const glyph = field => glyphs[field.type] ?? 'ƒ';

const wide = ['multilineText', 'richText', 'multipleSelects', 'multipleAttachments'];
const narrow = ['number', 'percent', 'rating', 'checkbox', 'count', 'autoNumber', 'currency', 'duration'];

/** width is the name of a column's width. */
export function width(field) {
  if (wide.includes(field.type)) return 'wide';
  if (narrow.includes(field.type)) return 'narrow';
  return 'usual';
}

/** instant is a time as people read it, in UTC. */
export const instant = text => text.replace('T', ' ').replace(/\.000Z$|Z$/, '');

const instants = ['dateTime', 'createdTime', 'lastModifiedTime'];
const right = ['number', 'currency', 'percent', 'duration', 'count', 'autoNumber'];

/** fill puts a cell's value into its element. */
export function fill(node, field, cell) {
  node.classList.toggle('right', right.includes(field.type));
  node.classList.toggle('faulty', typeof cell?.value === 'object' && cell.value !== null && ('error' in cell.value || 'specialValue' in cell.value));
  node.replaceChildren(...shown(field, cell));
}

function shown(field, cell) {
  if (field.type === 'checkbox') {
    const ticked = cell?.value === true;
    return [el('span', {class: ticked ? 'box ticked' : 'box', 'aria-hidden': 'true'}, ticked ? '✓' : ''),
      el('span', {class: 'hidden'}, ticked ? 'checked' : 'not checked')];
  }
  if (cell === undefined) return [];
  switch (field.type) {
    case 'singleSelect': return [chip(field, cell.value)];
    case 'multipleSelects': return cell.value.map(name => chip(field, name));
    case 'multipleRecordLinks': return [el('span', {class: 'link'}, cell.text)];
    case 'multipleAttachments': return [el('span', {}, cell.value.map(file => file.filename).join(', '))];
    case 'rating': return [el('span', {title: `${cell.value} of ${field.max ?? 5}`}, '★'.repeat(cell.value))];
  }
  return [el('span', {}, instants.includes(field.type) ? instant(cell.text) : cell.text)];
}

function chip(field, name) {
  const color = (field.choices ?? []).find(choice => choice.name === name)?.color ?? '';
  return el('span', {class: `chip ${color.replace(/(Light|Bright|Dark).*$/, '')}`}, name);
}
