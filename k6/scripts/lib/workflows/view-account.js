// SPDX-License-Identifier: Apache-2.0

import { CallError, quote } from '../answer.js';
import { getFromEdge } from '../edge.js';
import { choose } from '../random.js';
import { transaction } from '../transaction.js';

const name = 'View Account';

/** A patron views loans, requests and fees in a discovery service. */
export const workflow = {
  transactions: [name],
  thinkTime: 4,
  needs: ['accounts', 'edge'],
  begin({ okapi, think, random, accounts, edge }) {
    return () => {
      think.pause(0.5);
      transaction(name, okapi, () => view(okapi, edge, choose(random, accounts)));
    };
  },
};

function view(okapi, edge, id) {
  const query = { apikey: edge.key, includeLoans: true, includeCharges: true, includeHolds: true };
  const body = getFromEdge(okapi, edge.patron, ['/patron/account/{}', id], query, 'application/json');
  let account;
  try {
    account = JSON.parse(body);
  } catch {
    throw new CallError(`GET /patron/account/{} answered something else than JSON: ${quote(body, 100)}`, 200);
  }
  if (!Array.isArray(account.loans)) throw new CallError('GET /patron/account/{} answered without loans', 200);
}
