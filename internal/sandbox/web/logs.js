// The logs of changes and requests, newest first.
import {byID, el} from './dom.js';
import {instant} from './cell.js';

const most = 300;

class Requests {
  list = byID('request-log');
  lines = new Map();

  /** add shows new lines, and renews those that are known; those before first are gone. */
  add(entries, first) {
    for (const entry of entries) {
      const node = requestLine(entry);
      this.lines.get(entry.id)?.node.replaceWith(node);
      if (!this.lines.has(entry.id)) this.list.prepend(node);
      this.lines.set(entry.id, {entry, node});
    }
    for (const [id, {node}] of this.lines) {
      if (id >= first && this.lines.size <= most) break;
      node.remove();
      this.lines.delete(id);
    }
  }

  /** after is the line after which the page wants to know more: one without an answer still changes. */
  after() {
    let last = 0;
    for (const [id, {entry}] of this.lines) {
      if (!entry.status && !entry.dropped) return id - 1;
      last = id;
    }
    return last;
  }
}

// Changes of one record by one commit stand together.
class Changes {
  list = byID('change-log');
  seen = 0;
  latest = '';

  add(entries) {
    for (const change of entries.filter(c => c.seq > this.seen)) {
      const together = JSON.stringify([change.at, change.record, change.kind, change.by, change.request]);
      if (together !== this.latest) this.list.prepend(changeLine(change));
      this.latest = together;
      this.seen = change.seq;
      this.list.firstChild.querySelector('.cells').append(cellLine(change));
    }
    while (this.list.children.length > most) this.list.lastChild.remove();
  }

  after() {
    return this.seen;
  }
}

const clock = at => el('time', {datetime: at, title: `${instant(at)} UTC`}, at.slice(11, 19));
const verbs = {create: 'created', update: 'changed', delete: 'deleted'};

const longest = 120;

function quoted(text) {
  if (text === '') return el('i', {class: 'nothing'}, 'empty');
  const line = text.replace(/\s+/g, ' ');
  return el('q', {title: text}, line.length > longest ? `${line.slice(0, longest)}…` : line);
}

function cellLine(change) {
  if (!change.field) return el('div', {}, verbs[change.kind]);
  const values = change.kind === 'create' ? [quoted(change.new_text)] : [quoted(change.old_text), ' → ', quoted(change.new_text)];
  return el('div', {}, `${change.field}: `, ...values);
}

function changeLine(change) {
  const by = change.request
    ? [`${change.by}, `, el('button', {type: 'button', class: 'jump', 'data-request': String(change.request)}, `request ${change.request}`)]
    : [change.by];
  return el('li', {class: `change ${change.request ? 'api' : 'hand'}`},
    el('div', {class: 'what'}, clock(change.at), `${change.table} · `, el('b', {}, change.title || change.record)),
    el('div', {class: 'cells'}),
    el('div', {class: 'by'}, change.kind === 'update' ? 'by ' : `${verbs[change.kind]} by `, ...by));
}

function outcome(request) {
  if (request.dropped) return ['cut', 'bad'];
  if (!request.status) return ['open', 'waiting'];
  if (request.status < 300) return [String(request.status), 'good'];
  return [String(request.status), request.status === 429 || request.status >= 500 ? 'late' : 'bad'];
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function requestLine(request) {
  const [word, kind] = outcome(request);
  const place = request.path.split('/').slice(3).join('/') || request.path;
  const notes = [request.records ? `${request.records} ${request.records === 1 ? 'record' : 'records'}` : '',
    request.token ? `by ${request.token}` : 'without a token', request.fault ? `fault ${request.fault}` : '',
    request.landed ? `landed later: ${request.landed}` : ''].filter(Boolean).join(' · ');
  const more = [request.query ? `?${request.query}` : '', request.body ? pretty(request.body) : ''].filter(Boolean).join('\n\n');
  const head = [el('span', {class: 'number'}, `#${request.id}`), clock(request.at), el('b', {class: 'method'}, request.method),
    el('span', {class: 'place'}, place), el('span', {class: `status ${kind}`}, word)];
  return el('li', {class: 'request', id: `request-${request.id}`, tabindex: '-1'},
    more ? el('details', {}, el('summary', {class: 'what'}, ...head), el('pre', {tabindex: '0', 'aria-label': 'Query and body'}, more, request.body_cut ? '\n…' : ''))
      : el('div', {class: 'what'}, ...head),
    el('div', {class: 'by'}, notes));
}

export const changes = new Changes();
export const requests = new Requests();
