// SPDX-License-Identifier: Apache-2.0

/** A call without the expected response. status is 0 if there was no response. */
export class CallError extends Error {
  constructor(message, status) {
    super(message);
    this.name = 'CallError';
    this.status = status;
  }
}

/**
 * Returns the start of a body for a message, without the login. A gateway may repeat a login that
 * it rejects, and the last message of a load becomes part of the status of its run.
 */
export function quote(body, length) {
  const login = [__ENV.OKAPI_PASSWORD, __ENV.OKAPI_USERNAME].filter(Boolean);
  const spellings = login.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  return spellings.reduce((text, word) => text.split(word).join('***'), String(body)).slice(0, length);
}

/** Throws an error unless the response has the status, or one of a list of statuses. */
export function expect(answer, name, expected) {
  const statuses = [].concat(expected);
  if (statuses.includes(answer.status)) return;
  if (answer.status === 0) throw new CallError(`${name} failed: ${answer.error}`, 0);
  const why = answer.body ? `: ${quote(answer.body, 300)}` : '';
  throw new CallError(`${name} answered ${answer.status} instead of ${statuses.join(' or ')}${why}`, answer.status);
}

/** Returns the JSON of a response. */
export function decode(answer, name) {
  try {
    return answer.json();
  } catch {
    throw new CallError(`${name} answered something else than JSON: ${quote(answer.body, 100)}`, answer.status);
  }
}
