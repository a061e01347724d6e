// Talks to the sandbox's control API.

/** call sends a request and returns the answer; a refusal is thrown in the sandbox's words. */
export async function call(method, path, body) {
  const init = {method, headers: {}};
  if (body !== undefined) {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(`/_sandbox${path}`, init);
  } catch {
    throw new Error('The sandbox does not answer.');
  }
  const told = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(told?.error?.message ?? `The sandbox answered ${answer.status}.`);
  return told;
}

const segment = encodeURIComponent;

export const recordPath = (base, table, record) =>
  `/${segment(base)}/${segment(table)}${record ? `/${segment(record)}` : ''}`;

/** view asks for everything the page shows. */
export const view = query => call('GET', `/view?${new URLSearchParams(query)}`);

/** follow calls back whenever something happened, and with what becomes of the connection. */
export function follow(stirred, connected) {
  const events = new EventSource('/_sandbox/events');
  events.addEventListener('open', () => connected(true));
  events.addEventListener('error', () => connected(false));
  events.addEventListener('message', stirred);
}
