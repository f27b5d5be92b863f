// SPDX-License-Identifier: Apache-2.0

import { need } from '../need.js';
import * as page from '../receiving-pages.js';
import { take } from '../steps.js';
import { prepare, transaction } from '../transaction.js';

const name = 'Serials-Receiving-Workflow';

/**
 * A user receives one issue of a periodical after the other. Each issue is added as a piece of an
 * ongoing order, which each user creates before its first iteration.
 */
export const workflow = {
  transactions: [name],
  // As with orders, half a second per request. An iteration has 39.
  thinkTime: 20,
  needs: ['acquisitions'],
  begin(user) {
    const { okapi, acquisitions } = user;
    let title;
    let issue = 0;
    return () => {
      title = title || prepare(name, okapi, () => subscribe(okapi, acquisitions, user.unique('PerfLab')));
      if (!title) return;
      issue++;
      transaction(name, okapi, () => receive(user, title, { enumeration: `v.${issue}`, chronology: String(new Date().getFullYear()) }));
    };
  },
};

function subscribe(okapi, acquisitions, title) {
  const order = { orderType: 'Ongoing', ongoing: { isSubscription: false } };
  return page.makeTitle(okapi, acquisitions, { title, order, workflow: 'Independent' });
}

function receive({ okapi, think, acquisitions }, title, issue) {
  let piece;
  take(think, 1, [
    () => page.openApp(okapi),
    () => page.openTitle(okapi, acquisitions, title),
    () => page.openReceiving(okapi, title, title),
    () => {
      piece = add(okapi, acquisitions, title, issue);
      page.pieces(okapi, title);
    },
    () => {
      page.receive(okapi, piece);
      page.openTitle(okapi, acquisitions, title);
    },
  ]);
}

function add(okapi, { location }, { id, poLineId }, issue) {
  const piece = okapi.post('/orders/pieces', {
    poLineId, titleId: id, format: 'Physical', locationId: location, receivingStatus: 'Expected', displayOnHolding: false, supplement: false, ...issue,
  }, { expected: 201, query: { createItem: false } });
  need(piece.id, 'POST /orders/pieces', 'an id');
  return { ...piece, ...issue };
}
