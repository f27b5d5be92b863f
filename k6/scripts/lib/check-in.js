// SPDX-License-Identifier: Apache-2.0

import { need } from './need.js';

/** The id that FOLIO's page queries if there is no loan. */
const notFound = 'NOT_FOUND';

/** The calls of FOLIO's check-in page for one item, at a user's desk. */
export function checkIn(desk, itemBarcode) {
  openPage(desk);
  const { itemId, loan } = submitBarcode(desk, itemBarcode);
  lookUpRequests(desk, itemId, loan);
  lookUpFees(desk, itemId, loan);
}

function openPage({ okapi, think, release }) {
  const settings = release.checkInSettings;
  const users = ['/users'];
  const groups = ['/groups'];
  const staffSlips = ['/staff-slips-storage/staff-slips', { limit: 1000 }];
  const servicePoints = ['/service-points', { limit: 1000 }];
  okapi.preflight('GET', settings, users, groups, staffSlips, servicePoints);
  okapi.get(...groups);
  okapi.get(...users);
  think.pause(0.15);
  okapi.get(...staffSlips);
  okapi.get(...servicePoints);
  okapi.get(...settings);
}

function submitBarcode({ okapi, release, servicePointId, sessionId }, itemBarcode) {
  const lookUp = ['/inventory/items', { query: `barcode=="${itemBarcode}"`, limit: 1000 }];
  okapi.preflight('GET', lookUp);
  const { items } = okapi.getJson(...lookUp);
  const itemId = need(items && items[0] && items[0].id, 'GET /inventory/items', 'items[0].id');
  const request = { servicePointId, checkInDate: new Date().toISOString(), itemBarcode };
  if (release.sessions) request.sessionId = sessionId;
  okapi.preflight('POST', ['/circulation/check-in-by-barcode']);
  const { item, loan } = okapi.post('/circulation/check-in-by-barcode', request, { expected: 200 });
  need(item, 'POST /circulation/check-in-by-barcode', 'item');
  return { itemId, loan: loan || {} };
}

function lookUpRequests({ okapi, think }, itemId, { id: loanId = notFound }) {
  const requests = ['/circulation/requests', {
    query: `(itemId==${itemId} and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))`,
  }];
  const fees = ['/accounts', { query: `loanId=="${loanId}"` }];
  okapi.preflight('GET', requests, fees);
  think.pause(0.15);
  okapi.get(...requests);
  think.pause(0.25);
  okapi.get(...fees);
}

function lookUpFees({ okapi, think }, itemId, { id: loanId = notFound, userId = notFound, lostItemPolicyId = notFound }) {
  const policies = ['/lost-item-fees-policies', { query: `id==${lostItemPolicyId}` }];
  const allFees = ['/accounts', {
    query: `(userId==${userId} and itemId==${itemId}) AND (status.name=="Open" OR status.name=="Closed")`,
  }];
  const openFees = ['/accounts', {
    query: `(userId==${userId} and itemId==${itemId} and loanId==${loanId}) and status.name=="Open"`,
  }];
  okapi.preflight('GET', policies, allFees, openFees);
  for (const call of [policies, allFees, openFees]) {
    think.pause(0.15);
    okapi.get(...call);
  }
}
