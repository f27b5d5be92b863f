// SPDX-License-Identifier: Apache-2.0

// The calls of FOLIO's pages for orders. The calls to create and open an order are in the
// performance team's order. The calls of the form of a line and of the approval are derived from
// what the pages need.

import {
  acquisitionMethods, addresses, closureReasons, creatableUnits, distribution, expenseClasses, funds, materialTypes, memberships,
  prefixes, suffixes, tags, tagsEnabled, templates, units,
} from './acquisitions.js';
import { need } from './need.js';
import { by, one, setting, show, whole } from './pages.js';

const orders = '/orders/composite-orders';

/** Opens the list of order lines, the first page of the app. */
export function openApp(okapi, { materialType }) {
  show(okapi, [prefixes, suffixes, units, tags, tagsEnabled, funds, materialTypes, expenseClasses]);
  okapi.get('/orders/order-lines', { offset: 0, query: `(eresource.materialType == ${materialType}) sortby metadata.updatedDate/sort.descending`, limit: 50 });
}

/** Switches from lines to orders. */
export function switchToOrders(okapi) {
  show(okapi, [prefixes, suffixes, units, tags, tagsEnabled, addresses, closureReasons]);
}

/** Opens an empty form, with a vendor. Returns the number of the new order. */
export function openForm(okapi, { userId, vendor }) {
  const { poNumber } = okapi.getJson('/orders/po-number', { limit: 1000 });
  show(okapi, [
    addresses, setting('ORDERS', 'orderNumber'), prefixes, suffixes, templates, memberships(userId), tags, tagsEnabled, creatableUnits,
    one('/organizations/organizations/{}', vendor.id),
  ]);
  return need(poNumber, 'GET /orders/po-number', 'poNumber');
}

/** Reads the vendor again, as the form does after a vendor is chosen. */
export function chooseVendor(okapi, { vendor }) {
  okapi.get(...one('/organizations/organizations/{}', vendor.id));
}

/** Saves an order that has no lines yet. Returns its id. */
export function save(okapi, { vendor }, order) {
  const { id } = okapi.post(orders, {
    reEncumber: true, workflowStatus: 'Pending', vendor: vendor.id, manualPo: false, orderType: 'One-Time', acqUnitIds: [], tags: { tagList: [] }, notes: [], ...order,
  }, { expected: 201 });
  return need(id, `POST ${orders}`, 'an id');
}

/** Opens the list of orders and the page of one. Returns the order. */
export function view(okapi, { vendor, userId }, id) {
  show(okapi, [prefixes, suffixes, units, tags, tagsEnabled, addresses, closureReasons]);
  const order = read(okapi, id);
  show(okapi, [
    by('/orders-storage/order-invoice-relns', `purchaseOrderId==${id}`),
    by('/orders/order-lines', `purchaseOrderId==${id}`),
    [orders, { query: `id==${id}` }],
    setting('ORDERS', 'poLines-limit'),
    closureReasons, funds, setting('ORDERS', 'approvals'), addresses, tagsEnabled,
    ['/users', { query: `id==${userId}` }],
    one('/organizations/organizations/{}', vendor.id),
    ['/users', { query: `id == ${userId}` }],
    acquisitionMethods,
  ]);
  return order;
}

export function read(okapi, id) {
  const order = okapi.getJson(...one(`${orders}/{}`, id));
  need(order.workflowStatus, `GET ${orders}/{}`, 'workflowStatus');
  return order;
}

/** Finds an order by its number. */
export function find(okapi, number) {
  const { purchaseOrders = [] } = okapi.getJson(orders, { offset: 0, query: `(poNumber=="${number}") sortby metadata.updatedDate/sort.descending`, limit: 50 });
  return need(purchaseOrders[0] && purchaseOrders[0].id, `GET ${orders}`, `the order with number ${number}`);
}

/** Opens an empty form for a line. */
export function openLineForm(okapi, { vendor }) {
  show(okapi, [
    setting('ORDERS', 'inventory'), whole('/contributor-name-types'), whole('/identifier-types'), whole('/locations', 'name', 5000),
    acquisitionMethods, materialTypes, funds, expenseClasses, templates, tags, tagsEnabled,
    one('/organizations/organizations/{}', vendor.id),
  ]);
}

/** Saves a line of one physical copy. Returns its id. */
export function saveLine(okapi, { fund, location, materialType, method }, { purchaseOrderId, titleOrPackage, workflow }) {
  const line = okapi.post('/orders/order-lines', {
    purchaseOrderId,
    titleOrPackage,
    acquisitionMethod: method,
    orderFormat: 'Physical Resource',
    source: 'User',
    isPackage: false,
    rush: false,
    checkinItems: workflow === 'Independent',
    cost: { currency: 'USD', listUnitPrice: 1, quantityPhysical: 1 },
    physical: { createInventory: 'Instance, Holding, Item', materialType, volumes: [] },
    locations: [{ locationId: location, quantity: 1, quantityPhysical: 1 }],
    fundDistribution: distribution({ fund }),
  }, { expected: 201 });
  return need(line.id, 'POST /orders/order-lines', 'an id');
}

/** Opens the page of a line. */
export function viewLine(okapi, { vendor }, lineId) {
  show(okapi, [
    one('/orders/order-lines/{}', lineId),
    whole('/locations', 'name', 5000), funds, materialTypes, acquisitionMethods,
    one('/organizations/organizations/{}', vendor.id),
    by('/orders/titles', `poLineId==${lineId}`),
  ]);
}

/** Writes an order that was read, with changes. */
export function change(okapi, order, changes) {
  okapi.put([`${orders}/{}`, order.id], { ...order, ...changes });
}
