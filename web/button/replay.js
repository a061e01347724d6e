// The Replay button of an Airtable dead letter queue.
//
// Paste all of this into the action "Run a script" of the automation whose trigger is
// "When a record matches conditions: Replay Requested is checked" in the dead letter table.
// Beside the code, set up three input variables:
//
//   recordId      Airtable record ID of the record from the trigger
//   requestedBy   who pressed, such as the record's Replay Requested By (may be left out)
//   serviceUrl    where the replay service is reached, such as https://replay.example.com
//
// and one secret:
//
//   AIRTABLE_REPLAY_TOKEN   an API token of the replay service with the scope "replay"
//
// The script sends one request. Once the service has accepted the press, it writes the outcome
// into the record by itself. A press that is refused is unticked here, and Replay Notes says why,
// so that the button works again.

const SERVICE_URL = ""; // takes the place of the input variable serviceUrl where that is left out
const TABLE = "Dead Letter Queue"; // the name of the dead letter table

const SECRET = "AIRTABLE_REPLAY_TOKEN";
const REQUESTED = "Replay Requested";
const NOTES = "Replay Notes";
const AGAIN = "Press Replay again later; a press that did arrive is not carried out twice.";

const inputs = input.config();
const recordId = words(inputs.recordId);
if (!recordId) {
    throw new Error("Set up the input variable recordId: the Airtable record ID of the record from the trigger.");
}

const token = secret();
const refusal = await press();
if (refusal) {
    await takeBack(refusal);
}

// press asks the service for a replay. It returns why the press was refused, or nothing.
async function press() {
    const service = (words(inputs.serviceUrl) || SERVICE_URL).trim().replace(/\/+$/, "");
    if (!/^https?:\/\/[^\s/?#]+/i.test(service)) {
        return "Replay was not started: set up the automation's input variable serviceUrl, such as https://replay.example.com.";
    }
    if (!token) {
        return `Replay was not started: set up the automation's secret ${SECRET} with a token of the replay service.`;
    }
    const requestedBy = words(inputs.requestedBy).slice(0, 200);
    let response;
    try {
        response = await fetch(`${service}/v1/entries/${encodeURIComponent(recordId)}/replay`, {
            method: "POST",
            headers: {
                "Authorization": `Bearer ${token}`,
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Idempotency-Key": pressKey(),
            },
            body: JSON.stringify(requestedBy ? {requested_by: requestedBy} : {}),
        });
    } catch (problem) {
        return `The replay service did not answer (${words(problem && problem.message) || "no reason given"}). ${AGAIN}`;
    }
    const answer = await read(response);
    if (response.status === 202) {
        output.set("accepted", true);
        output.set("runId", words(answer.run_id));
        return "";
    }
    return explain(response.status, answer, service);
}

// explain says in plain words what an answer other than 202 means.
function explain(status, answer, service) {
    const said = sentence(answer);
    if (status === 401) {
        return `Replay was not started: the service does not accept the automation's token. Check the secret ${SECRET}.`;
    }
    if (status === 403) {
        return "Replay was not started: the automation's token may not press Replay. " + (said || "It needs the scope replay.");
    }
    if (said) {
        return `Replay was refused: ${said}`;
    }
    if (status >= 500) {
        return `The replay service answered ${status} and gave no reason. ${AGAIN}`;
    }
    return `Replay was not started: ${service} answered ${status}, which is no answer of a replay service. Check serviceUrl.`;
}

// read is the answer's JSON object; an empty one where it is a web page or nothing.
async function read(response) {
    try {
        const answer = JSON.parse(await response.text());
        return answer && typeof answer === "object" ? answer : {};
    } catch (problem) {
        return {};
    }
}

// sentence is what the service says about a refusal, with the fields at fault.
function sentence(answer) {
    const faults = Array.isArray(answer.errors) ? answer.errors : [];
    const parts = faults.filter((fault) => fault && words(fault.detail)).map((fault) => `${words(fault.field)}: ${words(fault.detail)}.`);
    return [words(answer.detail) || words(answer.title), ...parts].filter(Boolean).join(" ");
}

// takeBack unticks the box and says why, with one update; the token must not show up in a cell.
async function takeBack(why) {
    let note = token ? why.split(token).join("[token]") : why;
    if (note.length > 2000) {
        note = note.slice(0, 2000) + "…";
    }
    const table = base.getTable(TABLE);
    const fields = {[REQUESTED]: false};
    if (table.fields.some((field) => field.name === NOTES)) {
        fields[NOTES] = note;
    }
    await table.updateRecordAsync(recordId, fields);
    output.set("accepted", false);
    output.set("reason", note);
}

// pressKey names this run of the automation, so that the service knows a repeated request again.
function pressKey() {
    const random = typeof crypto === "object" && crypto && typeof crypto.randomUUID === "function"
        ? crypto.randomUUID()
        : [1, 2, 3].map(() => Math.random().toString(36).slice(2)).join("");
    return `automation-${encodeURIComponent(recordId)}-${Date.now().toString(36)}-${random}`.slice(0, 255);
}

// secret is the token, or nothing where the secret is not set up.
function secret() {
    try {
        return words(input.secret(SECRET)).trim();
    } catch (problem) {
        return "";
    }
}

// words is an input or part of an answer as text: names of people, lists joined.
function words(value) {
    if (value === null || value === undefined) {
        return "";
    }
    if (Array.isArray(value)) {
        return value.map(words).filter(Boolean).join(", ");
    }
    if (typeof value === "object") {
        return words(value.name) || words(value.email);
    }
    return String(value).trim();
}
