// SPDX-License-Identifier: Apache-2.0

import { CallError, expect } from './answer.js';
import { text } from './settings.js';

/** Returns the addresses of FOLIO's edge modules, which are separate servers, and their API key. */
export function edgeSettings() {
  const base = text('EDGE_URL', text('BASE_URL'));
  const at = (name) => text(name, base).replace(/\/+$/, '');
  return {
    key: text('EDGE_API_KEY'),
    patron: at('EDGE_PATRON_URL'),
    rtac: at('EDGE_RTAC_URL'),
    oaiPmh: at('EDGE_OAI_PMH_URL'),
  };
}

/**
 * GETs from an edge module, which identifies callers only by their key, without a tenant or a
 * token. Returns the body.
 */
export function getFromEdge(okapi, base, [template, ...values], query, accept) {
  const name = `GET ${template}`;
  let next = 0;
  const path = template.replace(/\{\}/g, () => encodeURIComponent(values[next++]));
  const pairs = Object.keys(query).map((key) => `${key}=${encodeURIComponent(query[key])}`);
  const answer = okapi.spend({ method: 'GET', url: `${base}${path}?${pairs.join('&')}`, name, headers: { Accept: accept }, responseType: 'text' });
  expect(answer, name, 200);
  if (!answer.body) throw new CallError(`${name} answered 200 without a body`, 200);
  return answer.body;
}
