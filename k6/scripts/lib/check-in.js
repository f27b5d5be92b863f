// SPDX-License-Identifier: Apache-2.0

import { need } from './need.js';

/** What FOLIO's page asks for when there is no loan. */
const notFound = 'NOT_FOUND';

/** The calls of FOLIO's check-in page for one item, without CORS preflights. */
export function checkIn(okapi, think, itemBarcode) {
  const servicePointId = openPage(okapi, think);
  const { itemId, loan } = submitBarcode(okapi, servicePointId, itemBarcode);
  lookUpRequestsAndFees(okapi, think, itemId, loan);
}

function openPage(okapi, think) {
  okapi.get('/groups');
  okapi.get('/users');
  think.pause(0.15);
  okapi.get('/staff-slips-storage/staff-slips', { limit: 1000 });
  const { servicepoints } = okapi.getJson('/service-points', { limit: 1000 });
  okapi.get('/configurations/entries', { query: '(module=CHECKOUT and configName=other_settings)' });
  return need(servicepoints && servicepoints[0] && servicepoints[0].id, 'GET /service-points', 'servicepoints[0].id');
}

function submitBarcode(okapi, servicePointId, itemBarcode) {
  const { items } = okapi.getJson('/inventory/items', { query: `barcode=="${itemBarcode}"`, limit: 1000 });
  const itemId = need(items && items[0] && items[0].id, 'GET /inventory/items', 'items[0].id');
  const { item, loan } = okapi.post('/circulation/check-in-by-barcode', {
    servicePointId,
    checkInDate: new Date().toISOString(),
    itemBarcode,
  }, { expected: 200 });
  need(item, 'POST /circulation/check-in-by-barcode', 'item');
  return { itemId, loan: loan || {} };
}

function lookUpRequestsAndFees(okapi, think, itemId, loan) {
  const { id: loanId = notFound, userId = notFound, lostItemPolicyId = notFound } = loan;
  think.pause(0.15);
  okapi.get('/circulation/requests', {
    query: `(itemId==${itemId} and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))`,
  });
  think.pause(0.25);
  okapi.get('/accounts', { query: `loanId=="${loanId}"` });
  think.pause(0.15);
  okapi.get('/lost-item-fees-policies', { query: `id==${lostItemPolicyId}` });
  think.pause(0.15);
  okapi.get('/accounts', {
    query: `(userId==${userId} and itemId==${itemId}) AND (status.name=="Open" OR status.name=="Closed")`,
  });
  think.pause(0.15);
  okapi.get('/accounts', {
    query: `(userId==${userId} and itemId==${itemId} and loanId==${loanId}) and status.name=="Open"`,
  });
}
