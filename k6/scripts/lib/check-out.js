// SPDX-License-Identifier: Apache-2.0

import { need } from './need.js';

/** The calls of FOLIO's check-out page for one user and item, without CORS preflights. */
export function checkOut(okapi, think, servicePointId, userBarcode, itemBarcode) {
  openPage(okapi, think);
  const userId = submitPatron(okapi, think, servicePointId, userBarcode);
  const loanUserId = submitItem(okapi, servicePointId, userBarcode, itemBarcode);
  refreshPatron(okapi, think, userId, loanUserId);
}

function openPage(okapi, think) {
  okapi.get('/configurations/entries', { query: '(module==CHECKOUT and configName==other_settings)' });
  okapi.get('/configurations/entries', { query: '(module==USERS and configName==profile_pictures)' });
  think.pause(0.2);
  okapi.get('/groups');
}

function submitPatron(okapi, think, servicePointId, barcode) {
  think.pause(0.4);
  const { users } = okapi.getJson('/users', {
    query: `(barcode=="${barcode}" OR externalSystemId=="${barcode}" OR id=="${barcode}" OR username=="${barcode}")`,
  });
  const user = need(users && users[0], 'GET /users', `the user with barcode ${barcode}`);
  okapi.get('/groups', { query: `(id==${need(user.patronGroup, 'GET /users', 'patronGroup')})` });
  okapi.get('/accounts', { query: `(userId==${user.id} and status.name<>Closed)`, limit: 100 });
  openLoans(okapi, user.id);
  openRequests(okapi, user.id);
  // FOLIO's page does say "query=" twice.
  okapi.get('/proxiesfor', { query: `query=(userId==${user.id})`, limit: 80 });
  okapi.get('/proxiesfor', { query: `query=(proxyUserId==${user.id})`, limit: 80 });
  okapi.get(['/note-links/domain/users/type/user/id/{}', user.id], { limit: 10000, order: 'desc', status: 'assigned' });
  okapi.get('/manualblocks', { query: `userId==${user.id}` });
  patronBlocks(okapi, user.id);
  okapi.get('/proxiesfor', { query: `query=(proxyUserId==${user.id})` });
  think.pause(0.2);
  okapi.get('/circulation/requests', {
    query: `(requesterId==${user.id} and pickupServicePointId=${servicePointId} and status=="Open - Awaiting pickup")`,
  });
  return user.id;
}

function submitItem(okapi, servicePointId, userBarcode, itemBarcode) {
  const { items } = okapi.getJson('/inventory/items', { query: `barcode=="${itemBarcode}"`, limit: 40 });
  need(items && items[0] && items[0].id, 'GET /inventory/items', 'items[0].id');
  const loan = okapi.post('/circulation/check-out-by-barcode', {
    itemBarcode,
    userBarcode,
    loanDate: new Date().toISOString(),
    servicePointId,
  }, { expected: 201 });
  return need(loan.userId, 'POST /circulation/check-out-by-barcode', 'userId');
}

function refreshPatron(okapi, think, userId, loanUserId) {
  openLoans(okapi, loanUserId);
  patronBlocks(okapi, userId);
  think.pause(0.2);
  openRequests(okapi, loanUserId);
}

function openLoans(okapi, userId) {
  okapi.get('/circulation/loans', { query: `(userId==${userId} and status.name<>Closed)`, limit: 1 });
}

function openRequests(okapi, userId) {
  okapi.get('/circulation/requests', { query: `(requesterId==${userId} and status=="Open")`, limit: 100 });
}

function patronBlocks(okapi, userId) {
  okapi.get(['/automated-patron-blocks/{}', userId], { limit: 100 });
}
