// SPDX-License-Identifier: Apache-2.0

import http from 'k6/http';

/** A call that did not answer as it must; status is 0 if there was no answer. */
export class CallError extends Error {
  constructor(message, status) {
    super(message);
    this.name = 'CallError';
    this.status = status;
  }
}

/**
 * One user's connection to a FOLIO gateway. It logs in before its first call,
 * and again when its token is refused; neither counts as time spent.
 */
export class Okapi {
  constructor({ baseUrl, tenant, username, password }) {
    this.baseUrl = baseUrl;
    this.tenant = tenant;
    this.credentials = JSON.stringify({ username, password });
    this.token = '';
    /** Milliseconds that calls took since this was last set to 0. */
    this.spent = 0;
    /** Seconds after which a call fails. */
    this.timeout = 60;
  }

  login() {
    const name = 'POST /authn/login';
    const answer = http.post(`${this.baseUrl}/authn/login`, this.credentials, {
      headers: { 'X-Okapi-Tenant': this.tenant, 'Content-Type': 'application/json', Accept: 'application/json' },
      tags: { name },
      timeout: this.timeout * 1000,
      responseType: 'text',
    });
    expect(answer, name, 201);
    this.token = answer.headers['X-Okapi-Token'];
    if (!this.token) throw new CallError(`${name} answered without the header x-okapi-token`, answer.status);
  }

  /** GETs and forgets the body. */
  get(path, query) {
    this.call('GET', path, { query });
  }

  /** GETs and returns the decoded JSON. */
  getJson(path, query) {
    return this.call('GET', path, { query, json: true });
  }

  /** POSTs an object as JSON and returns the decoded answer, if the expected status has one. */
  post(path, body, { query, expected }) {
    return this.call('POST', path, { query, expected, body: JSON.stringify(body), json: expected !== 204 });
  }

  /**
   * Makes one call. A path is a string, or a list of a template with {} for
   * each of the values that follow: metrics go by the template.
   */
  call(method, path, options) {
    const [template, ...values] = Array.isArray(path) ? path : [path];
    const name = `${method} ${template}`;
    const url = this.baseUrl + fill(template, values) + search(options.query);
    const answer = this.authenticated(method, url, name, options);
    this.spent += answer.timings.duration;
    expect(answer, name, options.expected || 200);
    return options.json ? decode(answer, name) : undefined;
  }

  authenticated(method, url, name, options) {
    if (!this.token) this.login();
    const answer = this.request(method, url, name, options);
    if (answer.status !== 401) return answer;
    this.login();
    return this.request(method, url, name, options);
  }

  request(method, url, name, { body = null, type = 'application/json', json = false, timeout = this.timeout }) {
    return http.request(method, url, body, {
      headers: {
        'X-Okapi-Tenant': this.tenant,
        'X-Okapi-Token': this.token,
        'Content-Type': type,
        Accept: 'application/json, text/plain',
      },
      tags: { name },
      timeout: timeout * 1000,
      // The body of a refusal says why; of the rest only JSON is looked at.
      responseType: json || method !== 'GET' ? 'text' : 'none',
    });
  }
}

function expect(answer, name, status) {
  if (answer.status === status) return;
  if (answer.status === 0) throw new CallError(`${name} failed: ${answer.error}`, 0);
  const why = answer.body ? `: ${String(answer.body).slice(0, 300)}` : '';
  throw new CallError(`${name} answered ${answer.status} instead of ${status}${why}`, answer.status);
}

function decode(answer, name) {
  try {
    return answer.json();
  } catch {
    throw new CallError(`${name} answered something else than JSON: ${String(answer.body).slice(0, 100)}`, answer.status);
  }
}

function fill(template, values) {
  let next = 0;
  return template.replace(/\{\}/g, () => encodeURIComponent(values[next++]));
}

/** The query string of an object; a list repeats its name. */
function search(query) {
  if (!query) return '';
  const pairs = [];
  for (const name of Object.keys(query)) {
    for (const value of [].concat(query[name])) pairs.push(`${name}=${encodeURIComponent(value)}`);
  }
  return `?${pairs.join('&')}`;
}
