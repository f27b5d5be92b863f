// SPDX-License-Identifier: Apache-2.0

import http from 'k6/http';
import { CallError, decode, expect } from './answer.js';

/** The share of a token's lifetime after which it is renewed, as in FOLIO's pages. */
const ripe = 0.8;

/** A login with a token that does not expire: FOLIO's until 2024. */
class LastingSession {
  constructor(okapi, credentials) {
    this.okapi = okapi;
    this.credentials = credentials;
    this.token = '';
  }

  ready() {
    if (!this.token) this.login();
  }

  /** Logs in again, because the gateway rejected the token. */
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
 * A login with an access token that is valid for minutes and a refresh token that is valid
 * longer. Each refresh renews both. If the refresh token has also expired, or is rejected, the
 * user logs in again.
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

  /** Returns whether a refresh succeeded. If not, a login shows the reason. */
  refreshed() {
    const cookies = `folioRefreshToken=${this.refresh.token}; folioAccessToken=${this.access.token}`;
    const answer = post(this.okapi, '/authn/refresh', { cookies });
    if (answer.status !== 201) return false;
    this.keep(answer, 'POST /authn/refresh');
    return true;
  }

  keep(answer, name) {
    const { accessTokenExpiration, refreshTokenExpiration } = decode(answer, name);
    // Uses the gateway's clock, which may differ from the local clock. It has a resolution of one
    // second.
    const now = Date.parse(answer.headers.Date) + 1000 || Date.now();
    this.access = token(answer, name, 'folioAccessToken', Date.parse(accessTokenExpiration) - now);
    this.refresh = token(answer, name, 'folioRefreshToken', Date.parse(refreshTokenExpiration) - now);
  }

  headers() {
    return { Cookie: `folioAccessToken=${this.access.token}` };
  }
}

/** The kinds of login, by the values of LOGIN. */
export const sessions = { Okapi: LastingSession, Expiring: ExpiringSession };

function token(answer, name, cookie, life) {
  const [found] = answer.cookies[cookie] || [];
  if (!found) throw new CallError(`${name} answered without the cookie ${cookie}`, answer.status);
  if (Number.isNaN(life)) throw new CallError(`${name} answered without the expiration of ${cookie}`, answer.status);
  return { token: found.value, due: Date.now() + ripe * life };
}

/** Makes a call of the login itself, which belongs to no transaction. */
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
    // A separate jar, because k6 would send its own cookies in addition, and deletes them after
    // each iteration.
    jar: new http.CookieJar(),
    timeout: okapi.timeout,
    responseType: 'text',
  });
}
