// A table as a grid: one cell takes the focus, and the arrows move it.
import {el, say} from './dom.js';
import {fill, glyph, width} from './cell.js';
import {editorFor, typable} from './edit.js';

const page = 10;
const open = {id: ':open'}, replay = {id: ':replay'}; // columns that are no fields

export class Grid {
  /** hooks: edit(record, field, value), press(record), open(record), rename(field, name), context(field). */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    this.columns = [];
    this.rows = [];
    this.shape = '';
    root.addEventListener('keydown', event => this.key(event));
    root.addEventListener('click', event => this.click(event));
    root.addEventListener('focusin', event => this.mark(event.target.closest('[data-column]')));
  }

  /** show brings the grid up to date and leaves a cell under edit alone. */
  show(grid, button) {
    const columns = button ? [open, replay, ...inReach(grid)] : [open, ...grid.fields];
    const shape = JSON.stringify([grid.table, button, grid.primary, grid.fields.map(f => [f.id, f.name, f.type])]);
    const fresh = shape !== this.shape;
    const held = this.root.contains(document.activeElement);
    this.view = grid;
    this.button = button;
    this.columns = columns;
    if (fresh) this.rebuild(shape, grid);
    this.fields = new Map(grid.fields.map(f => [f.id, f]));
    this.root.setAttribute('aria-rowcount', String(grid.total + 1));
    this.root.setAttribute('aria-colcount', String(columns.length));
    this.sync(grid.rows, !fresh);
    if (held && !this.root.contains(document.activeElement)) this.active()?.focus();
  }

  rebuild(shape, grid) {
    if (this.view?.table !== this.lastTable) this.at = null;
    this.lastTable = grid.table;
    this.shape = shape;
    this.editing = null;
    this.rows = [];
    const row = el('tr', {role: 'row', 'aria-rowindex': '1'}, ...this.columns.map(column => this.heading(column, grid)));
    this.body = el('tbody', {role: 'rowgroup'});
    this.root.replaceChildren(el('thead', {role: 'rowgroup'}, row), this.body);
    this.head = row;
  }

  heading(column, grid) {
    const cell = el('th', {role: 'columnheader', scope: 'col', tabindex: '-1', 'data-column': column.id, class: this.style(column, grid)});
    if (column === open) cell.append(el('span', {class: 'hidden'}, 'Record'), el('span', {'aria-hidden': 'true'}, '#'));
    else if (column === replay) cell.append('Replay');
    else {
      cell.title = `${column.type}${column.computed ? ', computed' : ''}`;
      cell.append(el('span', {class: 'glyph', 'aria-hidden': 'true'}, glyph(column)), column.name);
    }
    return cell;
  }

  style(column, grid) {
    if (column === open) return 'open';
    if (column === replay) return 'replay';
    return [width(column), column.id === grid.primary ? 'primary' : '', column.computed ? 'computed' : ''].join(' ');
  }

  sync(rows, flash) {
    const before = this.position();
    const old = new Map(this.rows.map(row => [row.id, row]));
    this.rows = rows.map((data, i) => {
      const row = old.get(data.id) ?? this.row(data, flash);
      old.delete(data.id);
      this.update(row, data, flash);
      row.node.setAttribute('aria-rowindex', String(i + 2));
      row.cells.get(open.id).firstChild.textContent = String(i + 1);
      if (this.body.children[i] !== row.node) this.body.insertBefore(row.node, this.body.children[i] ?? null);
      return row;
    });
    for (const row of old.values()) {
      if (this.editing?.row === row) this.editing = null;
      row.node.remove();
    }
    this.settle(before);
  }

  row(data, flash) {
    const cells = new Map(this.columns.map(column => [column.id, this.cell(column, data)]));
    const node = el('tr', {role: 'row', 'data-record': data.id, class: flash ? 'new' : null}, ...cells.values());
    return {id: data.id, node, cells, shown: new Map()};
  }

  cell(column, data) {
    const cell = el('td', {role: 'gridcell', 'data-column': column.id, class: this.style(column, this.view), tabindex: '-1'});
    if (column === open) cell.append(el('button', {type: 'button', tabindex: '-1'}));
    if (column === replay) cell.append(el('button', {type: 'button', tabindex: '-1', class: 'press'}, 'Replay'));
    if (column.computed) cell.setAttribute('aria-readonly', 'true');
    if (column === open || column === replay) cell.removeAttribute('tabindex');
    return cell;
  }

  update(row, data, flash) {
    row.data = data;
    const title = this.title(row);
    row.cells.get(open.id).firstChild.setAttribute('aria-label', `Open ${title}`);
    if (this.button) {
      const waiting = data.cells[this.button]?.value === true;
      const button = row.cells.get(replay.id).firstChild;
      button.textContent = waiting ? 'Requested' : 'Replay';
      button.setAttribute('aria-label', `${waiting ? 'Replay is requested for' : 'Replay'} ${title}`);
      button.setAttribute('aria-disabled', String(waiting));
    }
    for (const field of this.view.fields) {
      const text = JSON.stringify([data.cells[field.id], field.choices]);
      if (row.shown.get(field.id) === text) continue;
      const cell = row.cells.get(field.id);
      const first = !row.shown.has(field.id);
      row.shown.set(field.id, text);
      if (this.editing?.cell === cell) continue;
      fill(cell, field, data.cells[field.id]);
      if (flash && !first) blink(cell);
    }
  }

  title(row) {
    return row.data.cells[this.view.primary]?.text || 'unnamed record';
  }

  // The focus. this.at names the cell; exactly one element of the grid can be tabbed to.

  lines() {
    return [{id: 'head', node: this.head}, ...this.rows];
  }

  position() {
    const lines = this.lines();
    return {row: lines.findIndex(line => line.id === this.at?.row), column: this.columns.findIndex(c => c.id === this.at?.column)};
  }

  settle(before) {
    const now = this.position();
    const lines = this.lines();
    const row = now.row >= 0 ? now.row : Math.min(Math.max(before.row, 1), lines.length - 1);
    this.place(row, now.column >= 0 ? now.column : this.columns.findIndex(c => c.id === this.view.primary));
  }

  place(row, column) {
    this.active()?.setAttribute('tabindex', '-1');
    this.at = {row: this.lines()[row]?.id, column: this.columns[column]?.id};
    this.active()?.setAttribute('tabindex', '0');
  }

  active() {
    const line = this.lines().find(l => l.id === this.at?.row);
    const cell = line?.node?.querySelector(`:scope > [data-column="${CSS.escape(this.at.column)}"]`);
    return cell?.querySelector(':scope > button') ?? cell;
  }

  mark(cell) {
    if (!cell || this.editing?.cell === cell) return;
    const lines = this.lines();
    this.place(lines.findIndex(line => line.node === cell.parentNode), this.columns.findIndex(c => c.id === cell.dataset.column));
  }

  move(rows, columns) {
    const at = this.position();
    const clamp = (n, most) => Math.min(Math.max(n, 0), most);
    this.place(clamp(at.row + rows, this.rows.length), clamp(at.column + columns, this.columns.length - 1));
    this.active()?.focus();
    this.active()?.closest('[data-column]').scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  focusRecord(id, column = this.view.primary) {
    const row = this.rows.findIndex(r => r.id === id);
    if (row < 0) return;
    this.place(row + 1, this.columns.findIndex(c => c.id === column));
    this.move(0, 0);
  }

  key(event) {
    const cell = event.target.closest('[data-column]');
    if (!cell || this.editing?.cell === cell) return;
    const all = this.rows.length + this.columns.length;
    const [rows, columns] = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0],
      Home: [event.ctrlKey ? -all : 0, -all], End: [event.ctrlKey ? all : 0, all],
    }[event.key] ?? [];
    if (rows !== undefined && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.move(rows, columns);
    } else if (event.target.tagName !== 'BUTTON') this.command(event, cell);
  }

  command(event, cell) {
    const field = this.fields.get(cell.dataset.column);
    const row = this.rows.find(r => r.node === cell.parentNode);
    if (!field) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === 'Enter' || event.key === 'F2') row ? this.edit(row, field) : this.rename(field, cell);
    else if (!row) return;
    else if ((event.key === 'Delete' || event.key === 'Backspace') && plain) this.empty(row, field);
    else if (event.key === ' ' && plain) field.type === 'checkbox' ? this.edit(row, field) : this.hooks.open(row.id);
    else {
      // The character itself goes to the editor, which has the focus by then.
      if (event.key.length === 1 && plain && typable(field)) this.edit(row, field, '');
      return;
    }
    event.preventDefault();
  }

  click(event) {
    const cell = event.target.closest('[data-column]');
    if (!cell || this.editing?.cell === cell) return;
    const row = this.rows.find(r => r.node === cell.parentNode);
    const field = this.fields.get(cell.dataset.column);
    const button = event.target.closest('button');
    if (row && button && cell.dataset.column === open.id) this.hooks.open(row.id);
    else if (row && button && button.getAttribute('aria-disabled') !== 'true') this.hooks.press(row.id);
    else if (!button) {
      this.mark(cell);
      this.active()?.focus();
      if (row && field && (event.target.classList.contains('box') || event.detail === 2)) this.edit(row, field);
    }
  }

  // Editing.

  async empty(row, field) {
    if (field.computed) return this.computed(field);
    if (row.data.cells[field.id]) await this.save(row, field, null);
  }

  computed(field) {
    say(`${field.name} is computed; nobody can edit it.`);
  }

  async save(row, field, value) {
    try {
      await this.hooks.edit(row.id, field, value);
      return true;
    } catch (refusal) {
      say(refusal.message, true);
      return false;
    }
  }

  edit(row, field, start) {
    if (field.computed) return this.computed(field);
    if (field.type === 'checkbox') return this.save(row, field, row.data.cells[field.id]?.value === true ? null : true);
    const cell = row.cells.get(field.id);
    const editor = editorFor(field, row.data.cells[field.id], {start, ...this.hooks.context(field)});
    editor.control.setAttribute('aria-label', field.name);
    return this.during({row, cell, editor, again: () => fill(cell, field, row.data.cells[field.id]),
      save: value => this.save(row, field, value), started: start !== undefined});
  }

  rename(field, cell) {
    const editor = editorFor({name: 'Name', type: 'singleLineText'}, {value: field.name});
    editor.control.setAttribute('aria-label', `New name of ${field.name}`);
    return this.during({cell, editor, again: () => cell.replaceWith(this.heading(field, this.view)),
      save: name => this.hooks.rename(field, name).then(() => true, refusal => say(refusal.message, true))});
  }

  // during holds an editor in its cell until it is left: Enter and Tab save,
  // Escape does not, and neither does a value that is no value.
  during(edit) {
    const {cell, editor} = edit;
    this.editing = edit;
    cell.classList.add('editing');
    cell.replaceChildren(editor.node);
    if (editor.float) float(editor.node, cell);
    editor.focus();
    const close = refocus => {
      if (this.editing !== edit) return;
      this.editing = null;
      cell.classList.remove('editing');
      edit.again();
      const at = this.position();
      this.place(at.row, at.column);
      if (refocus) this.active()?.focus();
    };
    const leave = async (save, refocus) => {
      if (edit.busy || this.editing !== edit) return false;
      edit.busy = true;
      const done = !save || await this.keep(edit);
      edit.busy = false;
      if (done || !refocus) close(refocus);
      else editor.control.setAttribute('aria-invalid', 'true');
      return done;
    };
    editor.node.addEventListener('keydown', async event => {
      event.stopPropagation();
      if (event.isComposing) return;
      if (event.key === 'Escape') leave(false, true);
      else if (event.key === 'Enter' && !event.shiftKey) leave(true, true);
      else if (event.key === 'Tab' && !editor.node.classList.contains('picker')) {
        event.preventDefault();
        if (await leave(true, true)) this.move(0, event.shiftKey ? -1 : 1);
        return;
      } else return;
      event.preventDefault();
    });
    editor.node.addEventListener('focusout', event => {
      if (!editor.node.contains(event.relatedTarget) && event.relatedTarget !== editor.node) leave(true, false);
    });
  }

  async keep({editor, save, started}) {
    try {
      if (!started && !editor.changed()) return true;
      return await save(editor.read());
    } catch (mistake) {
      say(mistake.message, true);
      return false;
    }
  }
}

// What is asked of a dead letter first stands beside its button.
const first = ['Target ID', 'Status', 'Replay Outcome', 'Replay Notes', 'Fields Replayed', 'Fields Skipped', 'Reason Code', 'Target Table'];

function inReach(grid) {
  const rank = f => (f.id === grid.primary ? -1 : first.includes(f.name) ? first.indexOf(f.name) : first.length);
  return [...grid.fields].sort((a, b) => rank(a) - rank(b));
}

function blink(cell) {
  cell.classList.remove('changed');
  void cell.offsetWidth; // so that the animation begins anew
  cell.classList.add('changed');
}

function float(node, cell) {
  const at = cell.getBoundingClientRect();
  node.classList.add('float');
  const height = Math.max(node.offsetHeight, 160);
  node.style.left = `${Math.max(8, Math.min(at.left, innerWidth - Math.max(node.offsetWidth, 260) - 8))}px`;
  node.style.top = `${Math.max(8, Math.min(at.top, innerHeight - height - 8))}px`;
}
