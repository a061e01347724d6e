// Plays the official JavaScript client against a sandbox: node official_client.js URL.
const assert = require('assert');
const Airtable = require('airtable');

const endpointUrl = process.argv[2];
const baseOf = apiKey => new Airtable({apiKey, endpointUrl}).base('appOrdersSandbox01');
const base = baseOf('patSandbox.full');
const orders = base('Orders');

async function reads() {
  const all = await orders.select({pageSize: 1}).all();
  assert.deepEqual(all.map(r => r.get('Order ID')), ['O-1', 'O-2'], 'pages follow the offset');
  const filtered = await orders.select({
    filterByFormula: "{Order ID}='O-1'", fields: ['Order ID', 'Status'], maxRecords: 3, view: 'Grid view',
    sort: [{field: 'Order ID', direction: 'desc'}],
  }).firstPage();
  assert.deepEqual(filtered[0].fields, {'Order ID': 'O-1', Status: 'Delivered'});
  const posted = await orders.select({method: 'post', filterByFormula: "{Order ID}='O-2'", fields: ['Order ID']}).all();
  assert.equal(posted.length, 1);
  const asText = await orders.select({method: 'post', cellFormat: 'string', timeZone: 'utc', userLocale: 'en-us'}).all();
  assert.equal(asText[1].get('Qty'), '0');
  const long = await orders.select({filterByFormula: `{Order ID}='${'x'.repeat(15500)}'`}).all();
  assert.equal(long.length, 0, 'the client turns to POST by itself');
}

async function writes() {
  const one = await orders.create({'Order ID': "J'1", Qty: 3}, {typecast: true});
  assert.equal(one.get('Number'), 3, 'computed fields come with the answer');
  const many = await orders.create([{fields: {'Order ID': 'J2'}}, {fields: {'Order ID': 'J3'}}]);
  assert.equal((await orders.find(one.id)).get('Order ID'), "J'1");
  assert.equal((await orders.update(one.id, {Qty: 9})).get('Qty'), 9);
  const updated = await orders.update([{id: one.id, fields: {Qty: 10}}, {id: many[0].id, fields: {Qty: 11}}]);
  assert.deepEqual(updated.map(r => r.get('Qty')), [10, 11]);
  const upserted = await orders.update([{fields: {'Order ID': 'J3', Qty: 5}}, {fields: {'Order ID': 'J4'}}],
    {performUpsert: {fieldsToMergeOn: ['Order ID']}});
  assert.equal(upserted[0].id, many[1].id, 'the client shows records only, not who was created');
  assert.equal((await orders.replace(one.id, {'Order ID': 'R'})).get('Qty'), undefined);
  assert.equal((await orders.destroy(one.id)).id, one.id);
  const gone = await orders.destroy([many[0].id, many[1].id, upserted[1].id]);
  assert.equal(gone.length, 3);
}

async function refusals() {
  const refused = async (promise, error, statusCode) => {
    const reason = await promise.then(() => 'no error', e => e);
    assert.deepEqual([reason.error, reason.statusCode], [error, statusCode]);
  };
  await refused(orders.find('recAAAAAAAAAAAAAA'), 'NOT_FOUND', 404);
  await refused(orders.update('recOrder000000001', {Statuss: 1}), 'UNKNOWN_FIELD_NAME', 422);
  await refused(orders.update('recOrder000000001', {Label: 1}), 'INVALID_VALUE_FOR_COLUMN', 422);
  await refused(orders.select({filterByFormula: '('}).all(), 'INVALID_FILTER_BY_FORMULA', 422);
  await refused(base('Nope').select().all(), 'NOT_AUTHORIZED', 403);
  await refused(baseOf('patUnknown.x')('Orders').select().all(), 'AUTHENTICATION_REQUIRED', 401);
}

// The client retries a 429 by itself, for ever.
async function burst() {
  await Promise.all(Array.from({length: 8}, (_, i) => orders.update('recOrder000000001', {Qty: i})));
}

reads().then(writes).then(refusals).then(burst).catch(e => {
  console.error(e);
  process.exit(1);
});
