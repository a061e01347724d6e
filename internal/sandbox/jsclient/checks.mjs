// What Airtable's own JavaScript client makes of a sandbox: SANDBOX_URL names
// one that holds the tests' seed and has no rate limit.
import {test} from 'node:test';
import assert from 'node:assert/strict';
import Airtable from 'airtable';

const url = process.env.SANDBOX_URL;
const baseID = 'appOrdersSandbox01';
const connect = (token, more = {}) => new Airtable({apiKey: token, endpointUrl: url, ...more}).base(baseID);
const base = connect('patSandbox.full');
const orders = base('Orders');
const accounts = base('Accounts');
const idShape = /^rec[0-9A-Za-z]{14}$/;
const first = 'recOrder000000001';
const missing = 'recAAAAAAAAAAAAAA';

async function control(method, path, body) {
  const answer = await fetch(`${url}/_sandbox${path}`, {method, body: body && JSON.stringify(body)});
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

const requests = async () => (await control('GET', '/requests')).requests;
const lastRequest = async () => (await requests()).at(-1);
const options = changes => control('PATCH', '/options', changes);
const fault = f => control('POST', '/faults', f);
const keys = records => records.map(r => r.get('Order ID'));
const named = id => orders.select({filterByFormula: `{Order ID}='${id}'`}).all();
const run = name => ({filterByFormula: `FIND('${name}-', {Order ID}) = 1`});

// refused wants the client's own error, as it words it.
async function refused(promise, error, statusCode, message) {
  const reason = await promise.then(() => assert.fail('was not refused'), e => e);
  assert.equal(reason.error, error, String(reason));
  assert.equal(reason.statusCode, statusCode);
  if (message) assert.match(reason.message, message);
}

// Writing.

test('create answers the record with its computed cells', async () => {
  const made = await orders.create({'Order ID': 'C-1', Qty: 4});
  assert.match(made.id, idShape);
  assert.equal(made.get('Qty'), 4);
  assert.equal(made.get('Label'), 'C-1/');
  assert.equal(made.get('Ratio'), 0.25);
  assert.equal(typeof made.get('Number'), 'number');
  assert.match(made.get('Created'), /\.000Z$/);
});

test('create of a batch keeps the order of the request', async () => {
  const made = await orders.create(['C-2', 'C-3', 'C-4'].map(id => ({fields: {'Order ID': id}})));
  assert.deepEqual(keys(made), ['C-2', 'C-3', 'C-4']);
  assert.equal(new Set(made.map(r => r.id)).size, 3);
});

test('create takes ten records', async () => {
  const made = await orders.create(Array.from({length: 10}, (_, i) => ({fields: {'Order ID': `Ten-${i}`}})));
  assert.equal(made.length, 10);
});

test('create of eleven records is refused whole', async () => {
  const eleven = Array.from({length: 11}, (_, i) => ({fields: {'Order ID': `Eleven-${i}`}}));
  const reason = await orders.create(eleven).then(() => assert.fail('was not refused'), e => e);
  assert.equal(reason.statusCode, 422);
  assert.equal((await orders.select(run('Eleven')).all()).length, 0);
});

test('create takes a callback', async () => {
  const made = await new Promise((resolve, reject) =>
    orders.create({'Order ID': 'C-5'}, (err, record) => (err ? reject(err) : resolve(record))));
  assert.equal(made.get('Order ID'), 'C-5');
});

test('create by a typecast turns text into values and mints an option', async () => {
  const made = await orders.create({'Order ID': 'C-6', Qty: '12', Status: 'Lost at sea', Account: 'A-1'}, {typecast: true});
  assert.equal(made.get('Qty'), 12);
  assert.equal(made.get('Status'), 'Lost at sea');
  assert.deepEqual(made.get('Account'), ['recAcme0000000001']);
});

test('create by a typecast makes the record a link names', async () => {
  const made = await orders.create({'Order ID': 'C-7', Account: 'A-new'}, {typecast: true});
  const [link] = made.get('Account');
  assert.equal((await accounts.find(link)).get('Account ID'), 'A-new');
});

test('every writable type comes back as it was written', async () => {
  const written = {
    'Order ID': 'C-8', Status: 'Shipped', Tags: ['red', 'blue'], Qty: 1.5, Price: 9.99, Share: 0.123, Wait: 90, Stars: 4,
    Active: true, 'Delivery Date': '2026-10-05', 'Source Updated At': '2026-10-04T08:00:00.000Z', Notes: 'two\nlines',
    Mail: 'a@example.com', Account: ['recBolt0000000001'], Code: {text: '4006381333931'},
  };
  const made = await orders.create(written);
  for (const [name, value] of Object.entries(written)) assert.deepEqual(made.get(name), value, name);
});

test('an attachment is taken by its address', async () => {
  const made = await orders.create({'Order ID': 'C-9', Files: [{url: 'https://shop.example/a.png', filename: 'a.png'}]});
  const [file] = made.get('Files');
  assert.match(file.id, /^att/);
  assert.equal(file.filename, 'a.png');
});

test('empty cells are absent and zero is not empty', async () => {
  const made = await orders.create({'Order ID': 'C-10', Qty: 0, Active: false, Notes: '', Tags: []});
  assert.equal(made.get('Qty'), 0);
  for (const name of ['Active', 'Notes', 'Tags']) assert.ok(!(name in made.fields), name);
});

test('update changes the named cells alone and answers the whole record', async () => {
  const made = await orders.create({'Order ID': 'U-1', Qty: 1, Notes: 'kept'});
  const updated = await orders.update(made.id, {Qty: 2});
  assert.equal(updated.get('Qty'), 2);
  assert.equal(updated.get('Notes'), 'kept');
  assert.equal(updated.get('Order ID'), 'U-1');
});

test('update of a batch keeps the order of the request', async () => {
  const made = await orders.create([{fields: {'Order ID': 'U-2'}}, {fields: {'Order ID': 'U-3'}}]);
  const updated = await orders.update(made.reverse().map((r, i) => ({id: r.id, fields: {Qty: i}})));
  assert.deepEqual(keys(updated), ['U-3', 'U-2']);
  assert.deepEqual(updated.map(r => r.get('Qty')), [0, 1]);
});

test('update by a typecast', async () => {
  const made = await orders.create({'Order ID': 'U-4'});
  assert.equal((await orders.update(made.id, {Qty: '7'}, {typecast: true})).get('Qty'), 7);
});

test('null empties a cell', async () => {
  const made = await orders.create({'Order ID': 'U-5', Qty: 3, Status: 'Pending'});
  const updated = await orders.update(made.id, {Qty: null, Status: null});
  assert.ok(!('Qty' in updated.fields) && !('Status' in updated.fields));
});

test('replace empties what it does not name', async () => {
  const made = await orders.create({'Order ID': 'R-1', Qty: 3, Notes: 'gone'});
  const replaced = await orders.replace(made.id, {'Order ID': 'R-1', Qty: 4});
  assert.equal(replaced.get('Qty'), 4);
  assert.equal(replaced.get('Notes'), undefined);
});

test('replace of a batch', async () => {
  const made = await orders.create([{fields: {'Order ID': 'R-2', Qty: 1}}, {fields: {'Order ID': 'R-3', Qty: 1}}]);
  const replaced = await orders.replace(made.map(r => ({id: r.id, fields: {'Order ID': r.get('Order ID')}})));
  assert.deepEqual(replaced.map(r => r.get('Qty')), [undefined, undefined]);
});

test('a record writes itself: patchUpdate, putUpdate', async () => {
  const record = await orders.create({'Order ID': 'S-1', Qty: 1});
  await record.patchUpdate({Qty: 2});
  assert.equal(record.get('Qty'), 2);
  await record.putUpdate({'Order ID': 'S-1'});
  assert.equal(record.get('Qty'), undefined);
  assert.deepEqual((await orders.find(record.id)).fields, record.fields);
});

test('a record that is saved with its computed cells is refused', async () => {
  const record = await orders.create({'Order ID': 'S-2', Qty: 1});
  record.set('Qty', 2);
  await refused(record.save(), 'INVALID_VALUE_FOR_COLUMN', 422, /because the field is computed/);
  assert.equal((await orders.find(record.id)).get('Qty'), 1);
});

test('one bad record of two changes nothing', async () => {
  const made = await orders.create({'Order ID': 'B-1', Qty: 1});
  await refused(orders.update([{id: made.id, fields: {Qty: 2}}, {id: first, fields: {Qty: 'many'}}]),
    'INVALID_VALUE_FOR_COLUMN', 422);
  assert.equal((await orders.find(made.id)).get('Qty'), 1);
});

// Upsert.

const merge = {performUpsert: {fieldsToMergeOn: ['Order ID']}};

test('upsert updates what matches and creates what does not', async () => {
  const made = await orders.create({'Order ID': 'M-1', Qty: 1, Notes: 'kept'});
  const written = await orders.update([{fields: {'Order ID': 'M-1', Qty: 2}}, {fields: {'Order ID': 'M-2', Qty: 3}}], merge);
  assert.equal(written[0].id, made.id);
  assert.equal(written[0].get('Notes'), 'kept');
  assert.notEqual(written[1].id, made.id);
  assert.equal((await named('M-2')).length, 1);
});

test('upsert sent twice makes one record', async () => {
  const send = () => orders.update([{fields: {'Order ID': 'M-3'}}], merge);
  assert.equal((await send())[0].id, (await send())[0].id);
  assert.equal((await named('M-3')).length, 1);
});

test('upsert by replace empties the rest of a match', async () => {
  const made = await orders.create({'Order ID': 'M-4', Qty: 1});
  const [written] = await orders.replace([{fields: {'Order ID': 'M-4'}}], merge);
  assert.equal(written.id, made.id);
  assert.equal(written.get('Qty'), undefined);
});

test('upsert on two fields', async () => {
  await orders.create([{fields: {'Order ID': 'M-5', Qty: 1}}, {fields: {'Order ID': 'M-5', Qty: 2}}]);
  const [written] = await orders.update([{fields: {'Order ID': 'M-5', Qty: 2, Notes: 'second'}}],
    {performUpsert: {fieldsToMergeOn: ['Order ID', 'Qty']}});
  assert.equal(written.get('Qty'), 2);
  assert.equal((await named('M-5')).length, 2);
});

test('upsert that matches several records fails whole', async () => {
  await orders.create([{fields: {'Order ID': 'M-6'}}, {fields: {'Order ID': 'M-6'}}]);
  const reason = await orders.update([{fields: {'Order ID': 'M-7'}}, {fields: {'Order ID': 'M-6', Qty: 1}}], merge)
    .then(() => assert.fail('was not refused'), e => e);
  assert.equal(reason.statusCode, 422);
  assert.equal((await named('M-7')).length, 0);
});

test('upsert of a record by its ID leaves the merge fields aside', async () => {
  const made = await orders.create({'Order ID': 'M-8'});
  const [written] = await orders.update([{id: made.id, fields: {Qty: 5}}], merge);
  assert.equal(written.id, made.id);
});

// Reading.

test('find answers one record', async () => {
  const record = await orders.find(first);
  assert.equal(record.id, first);
  assert.equal(record.get('Order ID'), 'O-1');
  assert.equal(record.get('Delivery Date Changed At'), '2026-09-28T10:00:00.000Z');
});

test('find by way of fetch on a record', async () => {
  const record = await orders.find(first);
  const again = await record.fetch();
  assert.deepEqual(again.fields, record.fields);
});

test('a table goes by its ID, and its cells by theirs', async () => {
  const answer = await fetch(`${url}/v0/meta/bases/${baseID}/tables`, {headers: {Authorization: 'Bearer patSandbox.full'}});
  const table = (await answer.json()).tables.find(t => t.name === 'Orders');
  const key = table.fields.find(f => f.name === 'Order ID').id;
  const [record] = await base(table.id).select({returnFieldsByFieldId: true, maxRecords: 1, filterByFormula: `{${key}}='O-1'`}).all();
  assert.equal(record.get(key), 'O-1');
});

test('select by a formula', async () => {
  assert.deepEqual(keys(await named('O-1')), ['O-1']);
  assert.deepEqual(await named('o-1'), [], '= tells letter case apart');
});

for (const [about, formula, want] of [
  ['AND and a number', "AND({Qty}=0, {Order ID}='O-2')", ['O-2']],
  ['OR of keys', "OR({Order ID}='O-1',{Order ID}='O-2')", ['O-1', 'O-2']],
  ['RECORD_ID', `RECORD_ID()='${first}'`, ['O-1']],
  ['a link by the name of its record', "AND({Account}='A-1', FIND('O-', {Order ID})=1)", ['O-2']],
  ['LOWER', "LOWER({Order ID})='o-1'", ['O-1']],
  ['a date', "AND(IS_SAME({Delivery Date}, '2026-10-01', 'day'), {Order ID}='O-1')", ['O-1']],
]) {
  test(`select by a formula with ${about}`, async () => {
    assert.deepEqual(keys(await orders.select({filterByFormula: formula, sort: [{field: 'Order ID'}]}).all()), want);
  });
}

test('select by a key with quotes and a backslash', async () => {
  const key = String.raw`O'Brien "the \ man"`;
  const made = await orders.create({'Order ID': key});
  const literal = key.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  assert.deepEqual((await named(literal)).map(r => r.id), [made.id]);
});

test('select sorts by several fields, both ways', async () => {
  await orders.create([['a', 1], ['b', 2], ['c', 1]].map(([k, Qty]) => ({fields: {'Order ID': `Sort-${k}`, Qty}})));
  const sorted = await orders.select({...run('Sort'),
    sort: [{field: 'Qty', direction: 'desc'}, {field: 'Order ID', direction: 'desc'}]}).all();
  assert.deepEqual(keys(sorted), ['Sort-b', 'Sort-c', 'Sort-a']);
});

test('select of some fields', async () => {
  const [record] = await orders.select({filterByFormula: "{Order ID}='O-1'", fields: ['Status', 'Qty']}).all();
  assert.deepEqual(record.fields, {Status: 'Delivered'});
});

test('select through a view', async () => {
  await orders.create({'Order ID': 'V-1', Status: 'Shipped'});
  const shipped = await orders.select({view: 'Shipped', fields: ['Status']}).all();
  assert.ok(shipped.length > 0 && shipped.every(r => r.get('Status') === 'Shipped'));
});

test('select as text', async () => {
  const [record] = await orders.select({filterByFormula: "{Order ID}='O-2'", cellFormat: 'string', timeZone: 'utc', userLocale: 'en-us'}).all();
  assert.equal(record.get('Qty'), '0');
  assert.equal(record.get('Account'), 'A-1');
});

test('select with the number of comments', async () => {
  const [record] = await orders.select({maxRecords: 1, recordMetadata: ['commentCount']}).all();
  assert.equal(record.commentCount, 0);
});

test('select by POST, as the caller wishes', async () => {
  const found = await orders.select({method: 'post', filterByFormula: "{Order ID}='O-2'", fields: ['Order ID'],
    cellFormat: 'string', timeZone: 'utc', userLocale: 'en-us'}).all();
  assert.deepEqual(keys(found), ['O-2']);
  const seen = await lastRequest();
  assert.deepEqual([seen.method, seen.path], ['POST', `/v0/${baseID}/Orders/listRecords`]);
});

test('select by POST, as the client turns to it when the URL gets long', async () => {
  assert.deepEqual(await named('x'.repeat(15_500)), []);
  assert.equal((await lastRequest()).method, 'POST');
});

// Pages.

const pages = 250;

test('eachPage over 250 records', async () => {
  for (let from = 0; from < pages; from += 10) {
    await orders.create(Array.from({length: 10}, (_, i) => ({fields: {'Order ID': `Page-${from + i}`, Qty: from + i}})));
  }
  const sizes = [], seen = new Set();
  await orders.select(run('Page')).eachPage((records, next) => {
    sizes.push(records.length);
    records.forEach(r => seen.add(r.id));
    next();
  });
  assert.deepEqual(sizes, [100, 100, 50]);
  assert.equal(seen.size, pages);
});

test('eachPage by POST', async () => {
  const sizes = [];
  await orders.select({...run('Page'), method: 'post', pageSize: 90}).eachPage((records, next) => {
    sizes.push(records.length);
    next();
  });
  assert.deepEqual(sizes, [90, 90, 70]);
});

test('eachPage stops where the caller stops', async () => {
  const before = (await requests()).length;
  await new Promise(resolve => orders.select({...run('Page'), pageSize: 10}).eachPage(resolve, assert.fail));
  assert.equal((await requests()).length, before + 1);
});

test('all keeps a sort over the pages', async () => {
  const all = await orders.select({...run('Page'), pageSize: 60, sort: [{field: 'Qty', direction: 'desc'}]}).all();
  assert.deepEqual(all.map(r => r.get('Qty')), Array.from({length: pages}, (_, i) => pages - 1 - i));
});

test('firstPage reads one page', async () => {
  const before = (await requests()).length;
  assert.equal((await orders.select(run('Page')).firstPage()).length, 100);
  assert.equal((await requests()).length, before + 1);
});

test('maxRecords caps all pages together', async () => {
  const sizes = [];
  await orders.select({...run('Page'), pageSize: 10, maxRecords: 25}).eachPage((records, next) => {
    sizes.push(records.length);
    next();
  });
  assert.deepEqual(sizes, [10, 10, 5]);
});

test('an iterator that went stale', async () => {
  await options({cursor_life: '0s'});
  await refused(orders.select(run('Page')).all(), 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE', 422);
  await options({cursor_life: '10m'});
});

// Deleting.

test('destroy of one record', async () => {
  const made = await orders.create({'Order ID': 'D-1'});
  assert.equal((await orders.destroy(made.id)).id, made.id);
  await refused(orders.find(made.id), 'NOT_FOUND', 404, /^Record not found/);
});

test('destroy of a batch keeps the order of the request', async () => {
  const ids = (await orders.create(['D-2', 'D-3', 'D-4'].map(id => ({fields: {'Order ID': id}})))).map(r => r.id).reverse();
  assert.deepEqual((await orders.destroy(ids)).map(r => r.id), ids);
});

test('a record destroys itself', async () => {
  const made = await orders.create({'Order ID': 'D-5'});
  await made.destroy();
  assert.equal((await named('D-5')).length, 0);
});

test('destroy of a batch with a missing record deletes nothing', async () => {
  const made = await orders.create({'Order ID': 'D-6'});
  await refused(orders.destroy([made.id, missing]), 'NOT_FOUND', 404);
  assert.equal((await named('D-6')).length, 1);
});

// Errors.

for (const [about, send, error, status, message] of [
  ['a wrong token', () => connect('patUnknown.x')('Orders').select().all(), 'AUTHENTICATION_REQUIRED', 401],
  ['an unknown table', () => base('Nope').select().all(), 'NOT_AUTHORIZED', 403],
  ['an unknown base', () => new Airtable({apiKey: 'patSandbox.full', endpointUrl: url}).base('appNowhere0000001')('Orders').find(first), 'NOT_AUTHORIZED', 403],
  ['a record that is not there', () => orders.find(missing), 'NOT_FOUND', 404, /^Record not found/],
  ['an ID that is none', () => orders.find('junk'), 'NOT_FOUND', 404, /^Could not find what you are looking for/],
  ['an update of nothing', () => orders.update(missing, {Qty: 1}), 'NOT_FOUND', 404],
  ['a batch with a missing record', () => orders.update([{id: missing, fields: {}}]), 'ROW_DOES_NOT_EXIST', 422, /^Record ID recAAAAAAAAAAAAAA does not exist in this table/],
  ['an unknown field', () => orders.update(first, {Statuss: 1}), 'UNKNOWN_FIELD_NAME', 422, /^Unknown field name: "Statuss"/],
  ['a value of the wrong type', () => orders.update(first, {Qty: 'many'}), 'INVALID_VALUE_FOR_COLUMN', 422, /^Field "Qty" cannot accept the provided value/],
  ['a computed field', () => orders.update(first, {Number: 7}), 'INVALID_VALUE_FOR_COLUMN', 422, /because the field is computed/],
  ['an unknown option', () => orders.update(first, {Status: 'Mislaid'}), 'INVALID_MULTIPLE_CHOICE_OPTIONS', 422, /^Insufficient permissions to create new select option/],
  ['a malformed formula', () => orders.select({filterByFormula: '('}).all(), 'INVALID_FILTER_BY_FORMULA', 422, /^The formula for filtering records is invalid/],
  ['an unknown view', () => orders.select({view: 'Nope'}).all(), 'VIEW_NAME_NOT_FOUND', 422],
  ['the same record twice in a batch', () => orders.update([{id: first, fields: {}}, {id: first, fields: {}}]), 'INVALID_RECORDS', 422],
  ['a merge without its key', () => orders.update([{fields: {Qty: 1}}], merge), 'INVALID_RECORDS', 422],
]) {
  test(`error: ${about}`, () => refused(send(), error, status, message));
}

for (const [status, error] of [
  [401, 'AUTHENTICATION_REQUIRED'], [403, 'NOT_AUTHORIZED'], [404, 'NOT_FOUND'], [413, 'REQUEST_TOO_LARGE'],
  [500, 'SERVER_ERROR'], [503, 'SERVICE_UNAVAILABLE'],
]) {
  test(`error: the status ${status}`, async () => {
    await fault({method: 'GET', status});
    await refused(orders.find(first), error, status);
    assert.equal((await orders.find(first)).id, first, 'the next one passes');
  });
}

test('error: a revoked token', async () => {
  await control('POST', '/tokens', {token: 'patSandbox', state: 'revoked'});
  await refused(orders.find(first), 'AUTHENTICATION_REQUIRED', 401);
  await control('POST', '/tokens', {token: 'patSandbox', state: 'valid'});
});

test('error: a body that is not JSON, as a proxy sends it', async () => {
  await fault({method: 'GET', status: 502});
  await refused(base.makeRequest({path: `/Orders/${first}`}), 'UNEXPECTED_ERROR', 502, /invalid JSON/);
});

test('error: a connection that is cut', async () => {
  await fault({method: 'GET', drop: true});
  await refused(base.makeRequest({path: `/Orders/${first}`}), 'CONNECTION_ERROR', null);
});

test('a write that lands before its 503', async () => {
  await fault({method: 'POST', status: 503, after_apply: true});
  await refused(orders.create({'Order ID': 'L-1'}), 'SERVICE_UNAVAILABLE', 503);
  assert.equal((await named('L-1')).length, 1);
});

// The rate limit. The clock of the sandbox stands still until it is told to
// go on, so that nothing here waits for a penalty.

const impatient = () => connect('patSandbox.full', {noRetryIfRateLimited: true})('Orders');
const forward = advance => control('POST', '/clock', {advance});

async function limited(check, changes) {
  await options({rate: 5, penalty: '30s', ...changes});
  try {
    await check();
  } finally {
    await forward('31s');
    await options({rate: 0, rate_limit_envelope: 'plural', quota_exceeded: false});
  }
}

for (const envelope of ['plural', 'singular']) {
  test(`error: too many requests, ${envelope}, for a client that does not retry`, () => limited(async () => {
    for (let i = 0; i < 5; i++) await impatient().find(first);
    await refused(impatient().find(first), 'TOO_MANY_REQUESTS', 429);
    await refused(impatient().find(first), 'TOO_MANY_REQUESTS', 429);
    await forward('30s');
    assert.equal((await impatient().find(first)).id, first);
  }, {rate_limit_envelope: envelope}));
}

test('error: the monthly limit', () => limited(
  () => refused(impatient().find(first), 'TOO_MANY_REQUESTS', 429), {quota_exceeded: true}));

test('the client retries a 429 by itself until the penalty is over', async t => {
  t.mock.method(Math, 'random', () => 0.002); // its waits begin at 10 ms then, in place of 0 to 5 s
  await limited(async () => {
    const from = (await requests()).length;
    for (let i = 0; i < 5; i++) await orders.find(first);
    const late = orders.update(first, {Qty: 77});
    const refusals = async () => (await requests()).slice(from).filter(r => r.method === 'PATCH' && r.status === 429).length;
    while (await refusals() < 2);
    await forward('30s');
    assert.equal((await late).get('Qty'), 77);
    const written = (await requests()).slice(from).filter(r => r.method === 'PATCH' && r.status === 200);
    assert.equal(written.length, 1);
  });
});
