// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { decode, expect } from './answer.js';
import { sessions } from './session.js';

export { CallError } from './answer.js';

/** Requests that were repeated because the gateway asked for it or rejected the token. */
const repeats = new Counter('perflab_repeats');
/** The maximum number of attempts of one request, and the maximum wait between them in seconds. */
const maxAttempts = 4;
const maxWait = 10;

/**
 * One user's connection to a FOLIO gateway. It logs in when a call needs it. Neither logins nor
 * waits count as spent time.
 */
export class Okapi {
  constructor({ baseUrl, tenant, username, password, login = 'Okapi', preflights = false, run }) {
    this.baseUrl = baseUrl;
    this.tenant = tenant;
    /** Distinguishes the load from other traffic in access logs, and its users from each other. */
    this.agent = `perflab/${run} user/${exec.vu.idInTest}`;
    this.preflights = preflights;
    this.session = new sessions[login](this, JSON.stringify({ username, password }));
    /** Milliseconds that calls have taken since this was last set to 0. */
    this.spent = 0;
    /** The delay of the next transaction, in milliseconds. */
    this.late = 0;
    /** The transaction that calls belong to, for their tags. */
    this.transaction = '';
    /** Seconds after which a call fails. */
    this.timeout = 60;
  }

  login() {
    this.session.login();
  }

  /** GETs, and discards the body. */
  get(path, query) {
    this.call('GET', path, { query });
  }

  /** GETs, and returns the decoded JSON. */
  getJson(path, query) {
    return this.call('GET', path, { query, json: true });
  }

  /**
   * POSTs an object as JSON, and returns the decoded response unless the expected status is 204.
   */
  post(path, body, { query, expected }) {
    return this.call('POST', path, { query, expected, body: JSON.stringify(body), json: expected !== 204 });
  }

  /** PUTs an object as JSON. The expected status has no body. */
  put(path, body, { expected = 204 } = {}) {
    this.call('PUT', path, { expected, body: JSON.stringify(body) });
  }

  /**
   * Sends preflight requests for calls of one method, as a browser does. A call is a path and
   * optionally a query. It does nothing unless preflights are enabled.
   */
  preflight(method, ...calls) {
    if (!this.preflights) return;
    this.session.ready();
    const own = Object.keys(this.session.headers()).filter((name) => name !== 'Cookie');
    const headers = {
      Origin: this.baseUrl,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': ['content-type', 'x-okapi-tenant', ...own].join(',').toLowerCase(),
    };
    for (const [path, query] of calls) {
      const { url, name } = this.address('OPTIONS', path, query);
      const answer = this.spend({ method: 'OPTIONS', url, name, headers });
      expect(answer, name, [200, 204]);
    }
  }

  /**
   * Makes one call. A path is a string, or a list of a template and the values of its {…}.
   * Metrics use the template as the name.
   */
  call(method, path, options) {
    const { url, name } = this.address(method, path, options.query);
    const answer = this.authenticated(method, url, name, options);
    expect(answer, name, options.expected || 200);
    return options.json ? decode(answer, name) : undefined;
  }

  address(method, path, query) {
    const [template, ...values] = Array.isArray(path) ? path : [path];
    return { name: `${method} ${template}`, url: this.baseUrl + fill(template, values) + search(query) };
  }

  authenticated(method, url, name, options) {
    this.session.ready();
    const answer = this.request(method, url, name, options);
    if (answer.status !== 401) return answer;
    this.session.refused();
    repeats.add(1);
    return this.request(method, url, name, options);
  }

  request(method, url, name, { body = null, type = 'application/json', json = false, timeout }) {
    return this.spend({
      method, url, name, body, timeout,
      headers: {
        'X-Okapi-Tenant': this.tenant,
        ...this.session.headers(),
        'Content-Type': type,
        Accept: 'application/json, text/plain',
      },
      // The body of a rejected write has the reason. Otherwise, only JSON is read.
      responseType: json || method !== 'GET' ? 'text' : 'none',
    });
  }

  /** Sends a request of the transaction. The duration of each attempt counts. */
  spend(request) {
    const { transaction } = this;
    return this.send(transaction ? { ...request, transaction } : request, ({ timings }) => {
      this.spent += timings.duration;
    });
  }

  /**
   * Sends a request, and repeats it after a delay if the response asks for that. Eureka's
   * sidecars respond with 503 if a module's token expires while a request is being processed.
   */
  send({ method, url, name, transaction, body = null, headers, jar, timeout = this.timeout, responseType = 'none' }, seen = () => {}) {
    const tags = transaction ? { name, transaction } : { name };
    const params = { headers: { ...headers, 'User-Agent': this.agent }, tags, timeout: timeout * 1000, responseType };
    if (jar) params.jar = jar;
    for (let attempt = 1; ; attempt++) {
      const answer = http.request(method, url, body, params);
      seen(answer);
      const later = answer.headers['Retry-After'];
      if (answer.status !== 503 || later === undefined || attempt === maxAttempts) return answer;
      repeats.add(1);
      // The header may also be a date, but these servers do not send one.
      sleep(Math.min(Number(later) || 1, maxWait));
    }
  }
}

function fill(template, values) {
  let next = 0;
  return template.replace(/\{\w*\}/g, () => encodeURIComponent(values[next++]));
}

/** Returns the query string of an object. A list repeats its name. */
function search(query) {
  if (!query) return '';
  const pairs = [];
  for (const name of Object.keys(query)) {
    for (const value of [].concat(query[name])) pairs.push(`${name}=${encodeURIComponent(value)}`);
  }
  return `?${pairs.join('&')}`;
}
