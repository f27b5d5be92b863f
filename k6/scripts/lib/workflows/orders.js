// SPDX-License-Identifier: Apache-2.0

import * as page from '../order-pages.js';
import { take } from '../steps.js';
import { transaction } from '../transaction.js';

/** A user creates an order, adds a line to it and approves it, and then continues with the next. */
export const workflow = {
  transactions: ['Create Order', 'Add Order Lines', 'Approve Order'],
  // The script waits for half a second before each request. An iteration has 213.
  thinkTime: 106,
  needs: ['acquisitions'],
  begin(user) {
    return () => {
      let order;
      const { okapi } = user;
      if (!transaction('Create Order', okapi, () => {
        order = create(user);
      })) return;
      const title = user.unique('PerfLab');
      if (!transaction('Add Order Lines', okapi, () => addLine(user, order, title))) return;
      transaction('Approve Order', okapi, () => approve(user, order));
    };
  },
};

function create({ okapi, think, acquisitions }) {
  let number;
  let id;
  take(think, 0.35, [
    () => page.openApp(okapi, acquisitions),
    () => page.switchToOrders(okapi),
    () => {
      number = page.openForm(okapi, acquisitions);
    },
    () => page.chooseVendor(okapi, acquisitions),
    () => {
      id = page.save(okapi, acquisitions, { poNumber: number });
      page.view(okapi, acquisitions, id);
    },
  ]);
  return { id, number };
}

function addLine({ okapi, think, acquisitions }, { id, number }, title) {
  openOrder({ okapi, think, acquisitions }, number, 0.2);
  take(think, 0.15, [
    () => page.openLineForm(okapi, acquisitions),
    () => {
      const line = page.saveLine(okapi, acquisitions, { purchaseOrderId: id, titleOrPackage: title });
      page.viewLine(okapi, acquisitions, line);
      page.view(okapi, acquisitions, id);
    },
  ]);
}

/** Approves an order, and then opens it in a second step. */
function approve({ okapi, think, acquisitions }, { id, number }) {
  openOrder({ okapi, think, acquisitions }, number, 0.2);
  take(think, 0.1, [
    () => {
      page.change(okapi, page.read(okapi, id), { approved: true });
      page.view(okapi, acquisitions, id);
    },
    () => {
      page.change(okapi, page.read(okapi, id), { workflowStatus: 'Open' });
      page.view(okapi, acquisitions, id);
    },
  ]);
}

function openOrder({ okapi, think, acquisitions }, number, share) {
  take(think, share, [
    () => page.openApp(okapi, acquisitions),
    () => page.switchToOrders(okapi),
    () => page.view(okapi, acquisitions, page.find(okapi, number)),
  ]);
}
