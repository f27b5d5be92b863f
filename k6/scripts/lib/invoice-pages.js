// SPDX-License-Identifier: Apache-2.0

// The calls of FOLIO's pages for invoices, in the performance team's order.

import { addresses, creatableUnits, distribution, expenseClasses, findOrganizations, funds, materialTypes, memberships, tags, tagsEnabled, units } from './acquisitions.js';
import { need } from './need.js';
import { by, one, setting, show, whole } from './pages.js';

const batchGroups = whole('/batch-groups');
const approvals = setting('INVOICE', 'approvals');
const adjustments = by('/configurations/entries', '(module=INVOICE and configName=INVOICE.adjustments) sortby code');
const vendors = by('/organizations/organizations', 'id==*');

/** Opens the list of invoices, before a search. */
export function openList(okapi) {
  show(okapi, [units, tags, tagsEnabled, batchGroups, expenseClasses, funds]);
}

/** Opens an empty form. Returns the id of the first batch group. */
export function openForm(okapi, { userId }) {
  const { batchGroups: groups = [] } = okapi.getJson(...batchGroups);
  show(okapi, [adjustments, addresses, memberships(userId), creatableUnits]);
  return need(groups[0] && groups[0].id, 'GET /batch-groups', 'batchGroups[0].id');
}

export function lookUpVendor(okapi, { vendor }) {
  show(okapi, [tags, tagsEnabled, findOrganizations(vendor.name)]);
}

/** Saves an invoice with one line. Returns its id. */
export function save(okapi, { vendor, fund }, invoice) {
  show(okapi, [by('/invoice/invoices', duplicates('undefined', invoice).join(' AND ')), one('/organizations/organizations/{}', vendor.id)]);
  const { id } = okapi.post('/invoice/invoices', {
    chkSubscriptionOverlap: true,
    currency: 'USD',
    source: 'User',
    adjustments: [],
    status: 'Open',
    exportToAccounting: false,
    accountingCode: null,
    paymentMethod: 'Credit Card',
    ...invoice,
  }, { expected: 201 });
  // The amount is 0, as in the performance team's script, so that no budget is exhausted.
  okapi.post('/invoice/invoice-lines', {
    invoiceId: need(id, 'POST /invoice/invoices', 'an id'),
    invoiceLineStatus: 'Open',
    fundDistributions: distribution({ fund }),
    description: 'for approve',
    quantity: 1,
    subTotal: 0,
  }, { expected: 201 });
  return id;
}

/**
 * Returns the query for invoices of the same vendor, day and number. The pages warn of such
 * duplicates.
 */
function duplicates(id, { vendorInvoiceNo, invoiceDate, vendorId }) {
  return [`id<>"${id}"`, `vendorInvoiceNo=="${vendorInvoiceNo}"`, `invoiceDate=="${invoiceDate.slice(0, 10)}*"`, `vendorId=="${vendorId}"`];
}

/** Finds an invoice by its number. Returns the invoice. */
export function find(okapi, { vendor }, number) {
  const fields = ['voucherNumber', 'vendorInvoiceNo', 'poNumbers', 'accountingCode', 'invoiceLines.description'];
  const like = fields.map((field) => `${field}="${number}*"`).join(' or ');
  const { invoices = [] } = okapi.getJson('/invoice/invoices', { offset: 0, query: `(((${like}))) sortby invoiceDate/sort.descending`, limit: 50 });
  okapi.get(...by('/organizations/organizations', `id==${vendor.id}`));
  return need(invoices[0], 'GET /invoice/invoices', `the invoice with number ${number}`);
}

/** Opens the page of one invoice. Returns the invoice. */
export function view(okapi, { vendor, userId }, id) {
  const invoice = read(okapi, id);
  const { batchGroupId } = invoice;
  show(okapi, [
    one('/organizations/organizations/{}', vendor.id),
    lines(id),
    approvals,
    by('/batch-voucher/export-configurations', `batchGroupId==${batchGroupId}`),
    tagsEnabled,
    ['/users', { query: `id==${userId}` }],
    one('/batch-groups/{}', batchGroupId),
    one('/organizations/organizations/{}', vendor.id),
    one('/invoice/invoices/{}/documents', id),
    funds,
    materialTypes,
  ]);
  return invoice;
}

function read(okapi, id) {
  const invoice = okapi.getJson(...one('/invoice/invoices/{}', id));
  need(invoice.batchGroupId, 'GET /invoice/invoices/{}', 'batchGroupId');
  return invoice;
}

function lines(id) {
  return by('/invoice/invoice-lines', `(invoiceId==${id}) sortBy metadata.createdDate invoiceLineNumber`);
}

/** Approves the opened invoice. */
export function approve(okapi, invoice) {
  // FOLIO's page sends the same spaces.
  okapi.get('/invoice/invoices', { query: duplicates(invoice.id, invoice).join(' AND           ') });
  okapi.put(['/invoice/invoices/{}', invoice.id], { ...invoice, status: 'Approved' });
}

/** Opens the list of approved invoices. */
export function listApproved(okapi) {
  show(okapi, [approved, vendors]);
}

const approved = ['/invoice/invoices', { offset: 0, query: '(status=="Approved") sortby invoiceDate/sort.descending', limit: 50 }];

/** Opens the page of an invoice that has a voucher. Returns the invoice. */
export function viewApproved(okapi, found, id) {
  const invoice = read(okapi, id);
  show(okapi, [
    one('/organizations/organizations/{}', found.vendor.id),
    lines(id),
    approvals,
    by('/batch-voucher/export-configurations', `batchGroupId==${invoice.batchGroupId}`),
  ]);
  viewVoucher(okapi, found, invoice);
  return invoice;
}

function viewVoucher(okapi, { vendor, userId }, invoice) {
  show(okapi, [
    by('/batch-voucher/batch-voucher-exports', `batchVouchers.batchedVouchers=folioInvoiceNo:${invoice.folioInvoiceNo}`),
    tagsEnabled,
  ]);
  const { vouchers = [] } = okapi.getJson(...by('/voucher/vouchers', `invoiceId==${invoice.id}`));
  const voucherId = need(vouchers[0] && vouchers[0].id, 'GET /voucher/vouchers', `the voucher of invoice ${invoice.id}`);
  show(okapi, [
    ['/users', { query: `id==${userId}` }],
    one('/users/{}', userId),
    one('/batch-groups/{}', invoice.batchGroupId),
    one('/organizations/organizations/{}', vendor.id),
    one('/invoice/invoices/{}/documents', invoice.id),
    [['/finance/fiscal-years/{}', need(invoice.fiscalYearId, 'GET /invoice/invoices/{}', 'fiscalYearId')]],
    funds,
    materialTypes,
    by('/organizations-storage/categories', 'id==*'),
    by('/voucher/voucher-lines', `voucherId==${voucherId}`),
  ]);
}

/** Pays the opened invoice, and opens it again. */
export function pay(okapi, found, invoice) {
  okapi.put(['/invoice/invoices/{}', invoice.id], { ...invoice, status: 'Paid' });
  const paid = read(okapi, invoice.id);
  show(okapi, [
    approved,
    one('/organizations/organizations/{}', found.vendor.id),
    lines(invoice.id),
    approvals,
    by('/batch-voucher/export-configurations', `batchGroupId==${invoice.batchGroupId}`),
    vendors,
  ]);
  viewVoucher(okapi, found, paid);
}
