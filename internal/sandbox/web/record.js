// One record, with all its cells below each other.
import {byID, el, say} from './dom.js';
import {editorFor} from './edit.js';
import {instant} from './cell.js';

export class RecordDialog {
  /** hooks: save(record, fields), press(record), remove(record), context(field). */
  constructor(hooks) {
    this.hooks = hooks;
    this.dialog = byID('record');
    this.dialog.querySelector('form').addEventListener('submit', event => {
      event.preventDefault();
      this.save();
    });
    byID('record-close').addEventListener('click', () => this.dialog.close());
    byID('record-replay').addEventListener('click', () => this.hooks.press(this.row.id));
    byID('record-delete').addEventListener('click', event => this.remove(event.target));
  }

  open(grid, row, button) {
    this.row = row;
    this.table = grid.table;
    byID('record-title').textContent = row.cells[grid.primary]?.text || 'Unnamed record';
    byID('record-replay').hidden = !button;
    this.unsure();
    this.editors = new Map();
    byID('record-fields').replaceChildren(...grid.fields.map((field, i) => this.line(field, row.cells[field.id], `cell-${i}`)));
    this.show(grid, button);
    this.dialog.showModal();
  }

  line(field, cell, id) {
    if (field.computed) {
      const text = el('output', {id, class: 'computed'}, this.told(field, cell));
      this.editors.set(field.id, {field, output: text});
      return el('div', {class: 'line'}, el('label', {for: id}, field.name), text);
    }
    const editor = editorFor(field, cell, this.hooks.context(field));
    if (editor.node === editor.control) editor.control.id = id;
    const name = editor.node === editor.control ? el('label', {for: id}, field.name) : el('span', {class: 'label'}, field.name);
    const line = el('div', {class: 'line'}, name, editor.node);
    this.editors.set(field.id, {field, editor, line, name, id, shown: JSON.stringify(cell)});
    return line;
  }

  told(field, cell) {
    return /Time$/.test(field.type) ? instant(cell?.text ?? '') : cell?.text ?? '';
  }

  /** show brings what nobody is changing here up to date. */
  show(grid, button) {
    if (!this.row || grid.table !== this.table) return;
    const row = grid.rows.find(r => r.id === this.row.id);
    if (!row) return;
    this.row = row;
    for (const entry of this.editors.values()) this.refresh(entry, row.cells[entry.field.id]);
    const waiting = button && row.cells[button]?.value === true;
    byID('record-replay').textContent = waiting ? 'Requested' : 'Replay';
    byID('record-replay').disabled = Boolean(waiting);
  }

  refresh(entry, cell) {
    if (entry.output) {
      entry.output.textContent = this.told(entry.field, cell);
      return;
    }
    const shown = JSON.stringify(cell);
    if (shown === entry.shown || edited(entry.editor) || entry.line.contains(document.activeElement)) return;
    const editor = editorFor(entry.field, cell, this.hooks.context(entry.field));
    if (editor.node === editor.control) editor.control.id = entry.id;
    entry.editor.node.replaceWith(editor.node);
    entry.editor = editor;
    entry.shown = shown;
  }

  async save() {
    const fields = {};
    try {
      for (const {field, editor} of this.editors.values()) {
        if (editor?.changed()) fields[field.id] = editor.read();
      }
      if (Object.keys(fields).length) await this.hooks.save(this.row.id, fields);
      this.dialog.close();
    } catch (refusal) {
      say(refusal.message, true);
    }
  }

  async remove(button) {
    if (!this.sure) {
      this.sure = true;
      button.textContent = 'Really delete?';
      return;
    }
    try {
      await this.hooks.remove(this.row.id);
      this.dialog.close();
    } catch (refusal) {
      say(refusal.message, true);
    }
  }

  unsure() {
    this.sure = false;
    byID('record-delete').textContent = 'Delete record';
  }
}

function edited(editor) {
  try {
    return editor.changed();
  } catch {
    return true;
  }
}
