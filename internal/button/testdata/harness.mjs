// A harness of what Airtable gives a script in an automation, and no more: no timers, no URL, no
// crypto unless a case has it. It reads a case as JSON from standard input, runs its script, and
// prints what the script did.
import {readFileSync} from "node:fs";
import {webcrypto} from "node:crypto";
import vm from "node:vm";

const test = JSON.parse(readFileSync(0, "utf8"));
const did = {requests: [], updates: [], outputs: {}, log: [], thrown: ""};

const table = {
    name: test.table,
    fields: test.fields.map((name) => ({name})),
    async updateRecordAsync(record, fields) {
        for (const name of Object.keys(fields)) {
            if (!test.fields.includes(name)) {
                throw new Error(`No field matches '${name}' in table`);
            }
        }
        did.updates.push({record: record.id ?? record, fields});
    },
};

async function answer(url, options) {
    did.requests.push({url, ...options});
    const {status, body, contentType, networkError} = test.answer;
    if (networkError) {
        throw new Error(networkError.replace("{token}", test.secret));
    }
    return {
        status,
        ok: status >= 200 && status < 300,
        headers: new Map([["content-type", contentType ?? "application/json"]]),
        async text() { return body; },
        async json() { return JSON.parse(body); },
    };
}

const globals = {
    input: {
        config: () => test.config,
        secret(name) {
            if (name !== "AIRTABLE_REPLAY_TOKEN" || test.secret === null) {
                throw new Error(`No secret matches '${name}'`);
            }
            return test.secret;
        },
    },
    output: {set(key, value) { did.outputs[key] = JSON.parse(JSON.stringify(value)); }},
    base: {
        getTable(name) {
            if (name !== table.name) {
                throw new Error(`No table matches '${name}' in base`);
            }
            return table;
        },
    },
    fetch: answer,
    console: Object.fromEntries(["log", "info", "warn", "error", "debug"].map((kind) => [kind, (...args) => did.log.push(args.join(" "))])),
};
if (test.crypto) {
    globals.crypto = webcrypto;
}

try {
    await vm.runInNewContext(`(async () => {${test.script}\n})()`, globals, {timeout: 10_000});
} catch (problem) {
    did.thrown = String(problem?.message ?? problem);
}
process.stdout.write(JSON.stringify(did));
