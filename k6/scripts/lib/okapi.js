// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { decode, expect } from './answer.js';
import { sessions } from './session.js';

export { CallError } from './answer.js';

/** Requests that were sent again because the gateway asked for it or refused the token. */
const repeats = new Counter('perflab_repeats');
/** How often one request is sent at most, and the seconds it waits at most in between. */
const maxAttempts = 4;
const maxWait = 10;

/**
 * One user's connection to a FOLIO gateway, logged in whenever a call is made.
 * Neither logins nor waiting count as time spent.
 */
export class Okapi {
  constructor({ baseUrl, tenant, username, password, login = 'Okapi', preflights = false, run }) {
    this.baseUrl = baseUrl;
    this.tenant = tenant;
    /** Tells the load from other traffic in access logs, and its users apart. */
    this.agent = `perflab/${run} user/${exec.vu.idInTest}`;
    this.preflights = preflights;
    this.session = new sessions[login](this, JSON.stringify({ username, password }));
    /** Milliseconds that calls took since this was last set to 0. */
    this.spent = 0;
    /** Milliseconds by which the next transaction begins late. */
    this.late = 0;
    /** The transaction that calls belong to, for their tags. */
    this.transaction = '';
    /** Seconds after which a call fails. */
    this.timeout = 60;
  }

  login() {
    this.session.login();
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

  /** PUTs an object as JSON; the expected status has no body. */
  put(path, body, { expected = 204 } = {}) {
    this.call('PUT', path, { expected, body: JSON.stringify(body) });
  }

  /**
   * Asks, as a browser does, whether the page may make calls of one method. A
   * call is a path and perhaps a query. Does nothing unless preflights are on.
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
   * Makes one call. A path is a string, or a list of a template with {…} for
   * each of the values that follow: metrics go by the template.
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
      // The body of a refusal says why; of the rest only JSON is looked at.
      responseType: json || method !== 'GET' ? 'text' : 'none',
    });
  }

  /** Sends a request of the transaction; every attempt's duration counts. */
  spend(request) {
    const { transaction } = this;
    return this.send(transaction ? { ...request, transaction } : request, ({ timings }) => {
      this.spent += timings.duration;
    });
  }

  /**
   * Sends a request, and again after a while where the answer says so: Eureka's
   * sidecars do (503) when a module's token went stale under way.
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
      // A date instead of seconds is legal, but nobody sends one here.
      sleep(Math.min(Number(later) || 1, maxWait));
    }
  }
}

function fill(template, values) {
  let next = 0;
  return template.replace(/\{\w*\}/g, () => encodeURIComponent(values[next++]));
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
