// SPDX-License-Identifier: Apache-2.0

import http from 'k6/http';
import { CallError, decode, expect } from './answer.js';

/** The part of a token's life after which it is renewed, as FOLIO's pages do. */
const ripe = 0.8;

/** A login whose token lasts: FOLIO's until 2024. */
class LastingSession {
  constructor(okapi, credentials) {
    this.okapi = okapi;
    this.credentials = credentials;
    this.token = '';
  }

  ready() {
    if (!this.token) this.login();
  }

  /** The gateway took the token for none of its own. */
  refused() {
    this.login();
  }

  login() {
    const answer = post(this.okapi, '/authn/login', { body: this.credentials });
    expect(answer, 'POST /authn/login', 201);
    this.token = answer.headers['X-Okapi-Token'];
    if (!this.token) throw new CallError('POST /authn/login answered without the header x-okapi-token', answer.status);
  }

  headers() {
    return { 'X-Okapi-Token': this.token };
  }
}

/**
 * A login whose access token lives for minutes and whose refresh token lives
 * longer. Each refresh gives both anew; when the refresh token is over too, or
 * is refused, the user logs in again.
 */
class ExpiringSession {
  constructor(okapi, credentials) {
    this.okapi = okapi;
    this.credentials = credentials;
    this.access = { token: '', due: 0 };
    this.refresh = { token: '', due: 0 };
  }

  ready() {
    if (Date.now() >= this.access.due) this.renew();
  }

  refused() {
    this.renew();
  }

  renew() {
    if (Date.now() >= this.refresh.due || !this.refreshed()) this.login();
  }

  login() {
    const name = 'POST /authn/login-with-expiry';
    const answer = post(this.okapi, '/authn/login-with-expiry', { body: this.credentials });
    expect(answer, name, 201);
    this.keep(answer, name);
  }

  /** Whether a refresh worked. If not, a login tells what is the matter. */
  refreshed() {
    const cookies = `folioRefreshToken=${this.refresh.token}; folioAccessToken=${this.access.token}`;
    const answer = post(this.okapi, '/authn/refresh', { cookies });
    if (answer.status !== 201) return false;
    this.keep(answer, 'POST /authn/refresh');
    return true;
  }

  keep(answer, name) {
    const { accessTokenExpiration, refreshTokenExpiration } = decode(answer, name);
    // By the gateway's own clock, which need not agree with ours; it tells whole seconds.
    const now = Date.parse(answer.headers.Date) + 1000 || Date.now();
    this.access = token(answer, name, 'folioAccessToken', Date.parse(accessTokenExpiration) - now);
    this.refresh = token(answer, name, 'folioRefreshToken', Date.parse(refreshTokenExpiration) - now);
  }

  headers() {
    return { Cookie: `folioAccessToken=${this.access.token}` };
  }
}

/** How users log in, by the names that LOGIN takes. */
export const sessions = { Okapi: LastingSession, Expiring: ExpiringSession };

function token(answer, name, cookie, life) {
  const [found] = answer.cookies[cookie] || [];
  if (!found) throw new CallError(`${name} answered without the cookie ${cookie}`, answer.status);
  if (Number.isNaN(life)) throw new CallError(`${name} answered without the expiration of ${cookie}`, answer.status);
  return { token: found.value, due: Date.now() + ripe * life };
}

/** A call about the login itself: it belongs to no transaction. */
function post(okapi, path, { body = null, cookies }) {
  return okapi.send({
    method: 'POST',
    url: okapi.baseUrl + path,
    name: `POST ${path}`,
    body,
    headers: {
      'X-Okapi-Tenant': okapi.tenant,
      'Content-Type': 'application/json',
      Accept: 'application/json',
      ...(cookies ? { Cookie: cookies } : {}),
    },
    // Of its own: k6 would send the cookies it keeps a second time, and forgets them after each iteration.
    jar: new http.CookieJar(),
    timeout: okapi.timeout,
    responseType: 'text',
  });
}
