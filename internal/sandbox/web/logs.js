// The logs of changes and requests, newest first.
import {byID, el} from './dom.js';
import {instant} from './cell.js';

const most = 300;

/** Log keeps the latest lines of one kind and shows them. */
class Log {
  constructor(list, key, line) {
    this.list = list;
    this.key = key;
    this.line = line;
    this.lines = new Map();
  }

  add(entries, first = 0) {
    for (const entry of entries) {
      const node = this.line(entry);
      this.lines.get(entry[this.key])?.node.replaceWith(node);
      if (!this.lines.has(entry[this.key])) this.list.prepend(node);
      this.lines.set(entry[this.key], {entry, node});
    }
    for (const [key, {node}] of this.lines) {
      if (key >= first && this.lines.size <= most) break;
      node.remove();
      this.lines.delete(key);
    }
  }

  /** after is the line from which on the page wants to know more: unanswered requests change. */
  after(open = () => false) {
    let last = 0;
    for (const [key, {entry}] of this.lines) {
      if (open(entry)) return key - 1;
      last = key;
    }
    return last;
  }
}

const clock = at => el('time', {datetime: at, title: `${instant(at)} UTC`}, at.slice(11, 19));
const verbs = {create: 'created', update: 'changed', delete: 'deleted'};

function quoted(text) {
  return text === '' ? el('i', {class: 'nothing'}, 'empty') : el('q', {}, text.length > 160 ? `${text.slice(0, 160)}…` : text);
}

function changeLine(change) {
  const values = change.kind === 'create' ? [quoted(change.new_text)] : [quoted(change.old_text), ' → ', quoted(change.new_text)];
  const by = change.request
    ? [`${change.by}, `, el('button', {type: 'button', class: 'jump', 'data-request': String(change.request)}, `request ${change.request}`)]
    : [change.by];
  return el('li', {class: `change ${change.request ? 'api' : 'hand'}`},
    el('div', {class: 'what'}, clock(change.at), el('b', {}, change.title || change.record), ` · ${change.table}`),
    el('div', {}, change.field ? `${change.field}: ` : verbs[change.kind], ...(change.field ? values : [])),
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

export const changes = new Log(byID('change-log'), 'seq', changeLine);
export const requests = new Log(byID('request-log'), 'id', requestLine);

/** unanswered says whether a request's line will still change. */
export const unanswered = request => !request.status && !request.dropped;
