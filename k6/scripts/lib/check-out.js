// SPDX-License-Identifier: Apache-2.0

import { need } from './need.js';

/** The calls of FOLIO's check-out page for one patron and item, at a user's desk. */
export function checkOut(desk, userBarcode, itemBarcode) {
  openPage(desk);
  const user = submitPatron(desk, userBarcode);
  lookUpPatron(desk, user);
  lookUpPickups(desk, user.id);
  const borrowerId = submitItem(desk, userBarcode, itemBarcode);
  refreshPatron(desk, user.id, borrowerId);
}

function openPage({ okapi, think, release }) {
  const groups = ['/groups'];
  okapi.preflight('GET', release.checkOutSettings, release.pictureSettings, groups);
  okapi.get(...release.checkOutSettings);
  okapi.get(...release.pictureSettings);
  think.pause(0.2);
  okapi.get(...groups);
}

function submitPatron({ okapi, think }, barcode) {
  const patrons = ['/users', {
    query: `(barcode=="${barcode}" OR externalSystemId=="${barcode}" OR id=="${barcode}" OR username=="${barcode}")`,
  }];
  okapi.preflight('GET', patrons);
  think.pause(0.4);
  const { users } = okapi.getJson(...patrons);
  const user = need(users && users[0], 'GET /users', `the user with barcode ${barcode}`);
  need(user.patronGroup, 'GET /users', 'patronGroup');
  return user;
}

function lookUpPatron({ okapi, release }, { id, patronGroup }) {
  const group = ['/groups', { query: `(id==${patronGroup})` }];
  const loans = openLoans(id);
  const accounts = ['/accounts', { query: `(userId==${id} and status.name<>Closed)`, limit: release.limit }];
  const requests = openRequests(release, id);
  // FOLIO's page sends "query=" twice, and some limits in only one of the two requests.
  const sponsors = { query: `query=(userId==${id})` };
  const proxies = { query: `query=(proxyUserId==${id})` };
  const blocks = { query: `userId==${id}` };
  const notes = [['/note-links/domain/users/type/user/id/{userId}', id], { limit: 10000, order: 'desc', status: 'assigned' }];
  okapi.preflight('GET', group, loans, accounts, requests, ['/proxiesfor', sponsors], ['/proxiesfor', proxies],
    ['/manualblocks', { ...blocks, limit: 80 }], notes);
  okapi.get(...group);
  okapi.get(...accounts);
  okapi.get(...loans);
  okapi.get(...requests);
  okapi.get('/proxiesfor', { ...sponsors, limit: 80 });
  okapi.get('/proxiesfor', { ...proxies, limit: 80 });
  okapi.get(...notes);
  okapi.get('/manualblocks', blocks);
}

function lookUpPickups({ okapi, think, release, servicePointId }, userId) {
  const blocks = patronBlocks(release, userId);
  const proxies = ['/proxiesfor', { query: `query=(proxyUserId==${userId})` }];
  // FOLIO's page sends the same spaces.
  const pickups = ['/circulation/requests', {
    query: `(requesterId==${userId} and    pickupServicePointId=${servicePointId} and     status=="Open - Awaiting pickup")`,
  }];
  okapi.preflight('GET', blocks);
  okapi.get(...blocks);
  okapi.preflight('GET', proxies);
  okapi.get(...proxies);
  okapi.preflight('GET', pickups);
  think.pause(0.2);
  okapi.get(...pickups);
}

function submitItem({ okapi, servicePointId }, userBarcode, itemBarcode) {
  const lookUp = ['/inventory/items', { query: `barcode=="${itemBarcode}"`, limit: 40 }];
  okapi.preflight('GET', lookUp);
  const { items } = okapi.getJson(...lookUp);
  need(items && items[0] && items[0].id, 'GET /inventory/items', 'items[0].id');
  okapi.preflight('POST', ['/circulation/check-out-by-barcode']);
  const loan = okapi.post('/circulation/check-out-by-barcode', {
    itemBarcode,
    userBarcode,
    loanDate: new Date().toISOString(),
    servicePointId,
  }, { expected: 201 });
  return need(loan.userId, 'POST /circulation/check-out-by-barcode', 'userId');
}

function refreshPatron({ okapi, think, release }, userId, borrowerId) {
  const loans = openLoans(borrowerId);
  const requests = openRequests(release, borrowerId);
  okapi.preflight('GET', loans, requests);
  okapi.get(...loans);
  // The preflight was sent a moment ago, and the browser caches the response.
  okapi.get(...patronBlocks(release, userId));
  think.pause(0.2);
  okapi.get(...requests);
}

function openLoans(userId) {
  return ['/circulation/loans', { query: `(userId==${userId} and status.name<>Closed)`, limit: 1 }];
}

function openRequests({ openRequest, limit }, userId) {
  return ['/circulation/requests', { query: `(requesterId==${userId} and status=="${openRequest}")`, limit }];
}

function patronBlocks({ limit }, userId) {
  return [['/automated-patron-blocks/{userId}', userId], { limit }];
}
