// SPDX-License-Identifier: Apache-2.0

import * as page from '../invoice-pages.js';
import { take } from '../steps.js';
import { transaction } from '../transaction.js';

/**
 * A user creates an invoice, approves it and pays it, and then continues with the next. The
 * number of an invoice is used in no other run, so that nothing must be reset between runs.
 */
export const workflow = {
  transactions: ['Create Invoices', 'Invoices Approve', 'Paying Invoices'],
  // The script makes 25 requests per minute and user. An iteration has 99.
  thinkTime: 240,
  needs: ['acquisitions'],
  begin(user) {
    return () => {
      const number = user.unique('PerfLab');
      let id;
      let invoice;
      const { okapi } = user;
      if (!transaction('Create Invoices', okapi, () => {
        id = create(user, number);
      })) return;
      if (!transaction('Invoices Approve', okapi, () => {
        invoice = approve(user, id, number);
      })) return;
      transaction('Paying Invoices', okapi, () => pay(user, invoice.id));
    };
  },
};

function create({ okapi, think, acquisitions }, vendorInvoiceNo) {
  let batchGroupId;
  let id;
  take(think, 0.4, [
    () => page.openList(okapi),
    () => {
      batchGroupId = page.openForm(okapi, acquisitions);
    },
    () => page.lookUpVendor(okapi, acquisitions),
    () => {
      const invoiceDate = new Date().toISOString().slice(0, 10);
      id = page.save(okapi, acquisitions, { vendorInvoiceNo, invoiceDate, batchGroupId, vendorId: acquisitions.vendor.id });
      page.openList(okapi);
      page.view(okapi, acquisitions, id);
    },
  ]);
  return id;
}

function approve({ okapi, think, acquisitions }, id, number) {
  let invoice;
  take(think, 0.3, [
    () => page.openList(okapi),
    () => page.find(okapi, acquisitions, number),
    () => {
      invoice = page.view(okapi, acquisitions, id);
    },
    () => page.approve(okapi, invoice),
  ]);
  return invoice;
}

function pay({ okapi, think, acquisitions }, id) {
  let invoice;
  take(think, 0.3, [
    () => page.listApproved(okapi),
    () => {
      invoice = page.viewApproved(okapi, acquisitions, id);
    },
    () => page.pay(okapi, acquisitions, invoice),
  ]);
}
