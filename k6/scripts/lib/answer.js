// SPDX-License-Identifier: Apache-2.0

/** A call that did not answer as it must; status is 0 if there was no answer. */
export class CallError extends Error {
  constructor(message, status) {
    super(message);
    this.name = 'CallError';
    this.status = status;
  }
}

/**
 * The beginning of a body, for a message. A gateway may repeat the login it
 * refuses, and what a load says last is written into the status of its run.
 */
export function quote(body, length) {
  const login = [__ENV.OKAPI_PASSWORD, __ENV.OKAPI_USERNAME].filter(Boolean);
  const spellings = login.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  return spellings.reduce((text, word) => text.split(word).join('***'), String(body)).slice(0, length);
}

/** Throws unless the answer has the status, or one of a list of them. */
export function expect(answer, name, expected) {
  const statuses = [].concat(expected);
  if (statuses.includes(answer.status)) return;
  if (answer.status === 0) throw new CallError(`${name} failed: ${answer.error}`, 0);
  const why = answer.body ? `: ${quote(answer.body, 300)}` : '';
  throw new CallError(`${name} answered ${answer.status} instead of ${statuses.join(' or ')}${why}`, answer.status);
}

/** The JSON of an answer. */
export function decode(answer, name) {
  try {
    return answer.json();
  } catch {
    throw new CallError(`${name} answered something else than JSON: ${quote(answer.body, 100)}`, answer.status);
  }
}
