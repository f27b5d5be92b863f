// SPDX-License-Identifier: Apache-2.0

// The calls of FOLIO's pages for receiving. The calls to open a title are in the performance
// team's order.

import { materialTypes, tags, tagsEnabled, units } from './acquisitions.js';
import { CallError } from './okapi.js';
import { need } from './need.js';
import * as orderPage from './order-pages.js';
import { by, one, show, whole } from './pages.js';

const expected = 'receivingStatus==("Expected" or "Late" or "Claim delayed" or "Claim sent")';

/**
 * Creates an order with one line and opens it. This creates a title and, unless receiving is
 * independent of the order, its expected piece.
 */
export function makeTitle(okapi, found, { title, order = {}, workflow = '' }) {
  const { poNumber } = okapi.getJson('/orders/po-number', { limit: 1000 });
  const orderId = orderPage.save(okapi, found, { poNumber, ...order });
  const lineId = orderPage.saveLine(okapi, found, { purchaseOrderId: orderId, titleOrPackage: title, workflow });
  orderPage.change(okapi, orderPage.read(okapi, orderId), { approved: true, workflowStatus: 'Open' });
  const { titles = [] } = okapi.getJson('/orders/titles', { query: `poLineId==${lineId}`, limit: 1 });
  return need(titles[0], 'GET /orders/titles', `the title of line ${lineId}`);
}

/** Opens the list of titles. */
export function openApp(okapi) {
  const { titles = [] } = okapi.getJson('/orders/titles', {
    query: '(purchaseOrder.workflowStatus==("Closed" or "Open" or "Pending")) sortby title/sort.ascending', limit: 50, offset: 0,
  });
  show(okapi, [materialTypes, tags, units, tagsEnabled]);
  const lines = titles.map(({ poLineId }) => `id==${poLineId}`).join(' or ');
  if (lines) okapi.get('/orders/order-lines', { limit: 1000, query: lines });
}

/** Opens the page of a title, with its pieces. */
export function openTitle(okapi, { vendor }, { id, poLineId }) {
  okapi.get(...whole('/locations'));
  show(okapi, [one('/orders/titles/{}', id)]);
  const line = okapi.getJson(...one('/orders/order-lines/{}', poLineId));
  const of = `titleId==${id} and poLineId==${poLineId}`;
  show(okapi, [
    ['/orders/pieces', { limit: 1, query: `${of} and ${expected}` }],
    one('/orders/composite-orders/{}', need(line.purchaseOrderId, 'GET /orders/order-lines/{}', 'purchaseOrderId')),
    ['/orders/pieces', { limit: 1, query: `${of} and receivingStatus==(Received)` }],
    ['/orders/pieces', { limit: 1, query: `${of} and receivingStatus==(Unreceivable)` }],
    by('/organizations/organizations', `id==${vendor.id}`),
    whole('/contributor-name-types'), whole('/identifier-types'),
  ]);
  return pieces(okapi, { id, poLineId });
}

/** Reads the lists of a title's pieces. Returns the expected and the received pieces. */
export function pieces(okapi, { id, poLineId }) {
  const of = `titleId==${id} and poLineId==${poLineId}`;
  const list = (status, sortedBy) => okapi.getJson('/orders/pieces', { limit: 30, offset: 0, query: `(${of} and ${status}) sortby ${sortedBy}` }).pieces || [];
  const waiting = list(expected, 'receiptDate/sort.ascending');
  const received = list('receivingStatus=="Received"', 'receivedDate/sort.descending');
  list('receivingStatus=="Unreceivable"', 'receivedDate/sort.descending');
  return { waiting, received };
}

/** Opens the form for receiving pieces. */
export function openReceiving(okapi, { instanceId }, { poLineId }) {
  if (instanceId) okapi.get(...by('/holdings-storage/holdings', `instanceId==${instanceId}`));
  okapi.get(...by('/inventory/items', `purchaseOrderLineIdentifier==${poLineId}`));
}

/** Receives a piece: its item has arrived. */
export function receive(okapi, { poLineId, id, holdingId, locationId, displayOnHolding = false, enumeration, chronology }) {
  const piece = { id, itemStatus: 'In process', displayOnHolding, enumeration, chronology };
  if (holdingId) piece.holdingId = holdingId;
  else piece.locationId = locationId;
  const { receivingResults } = okapi.post('/orders/check-in', {
    toBeCheckedIn: [{ poLineId, checkedIn: 1, checkInPieces: [piece] }], totalRecords: 1,
  }, { expected: 200 });
  requireSuccess('POST /orders/check-in', receivingResults);
}

/** Undoes the receiving: the piece is expected again. */
export function unreceive(okapi, { poLineId, id, displayOnHolding = false }) {
  const { receivingResults } = okapi.post('/orders/receive', {
    toBeReceived: [{ poLineId, received: 1, receivedItems: [{ pieceId: id, itemStatus: 'On order', displayOnHolding }] }], totalRecords: 1,
  }, { expected: 200 });
  requireSuccess('POST /orders/receive', receivingResults);
}

/** Throws an error if nothing was done. Both calls respond with 200 even then. */
function requireSuccess(call, results) {
  const [{ processedWithError = 0, receivingItemResults = [] } = {}] = need(results, call, 'receivingResults');
  if (processedWithError === 0) return;
  const [{ processingStatus: { error = {} } = {} } = {}] = receivingItemResults;
  throw new CallError(`${call} answered 200 and failed: ${error.message || 'no reason is told'}`, 200);
}
