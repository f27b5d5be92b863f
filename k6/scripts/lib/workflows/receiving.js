// SPDX-License-Identifier: Apache-2.0

import { need } from '../need.js';
import * as page from '../receiving-pages.js';
import { take } from '../steps.js';
import { prepare, transaction } from '../transaction.js';

const receiving = 'Receiving-an-Order-Line';
const unreceiving = 'Unreceiving-a-Piece';

/**
 * A user repeatedly receives the piece of an order line and undoes that. Each user creates its
 * order before its first iteration, and the order is never used up.
 */
export const workflow = {
  transactions: [receiving, unreceiving],
  // As with orders, half a second per request. An iteration has 42.
  thinkTime: 21,
  needs: ['acquisitions'],
  begin(user) {
    const { okapi, acquisitions } = user;
    let title;
    return () => {
      title = title || prepare(receiving, okapi, () => page.makeTitle(okapi, acquisitions, { title: user.unique('PerfLab') }));
      if (!title) return;
      // If an earlier iteration failed to undo the receiving, it is undone first.
      if (!prepare(receiving, okapi, () => makeExpected(okapi, title))) return;
      if (!transaction(receiving, okapi, () => receive(user, title))) return;
      transaction(unreceiving, okapi, () => unreceive(user, title));
    };
  },
};

function makeExpected(okapi, title) {
  const { received } = page.pieces(okapi, title);
  for (const piece of received) page.unreceive(okapi, piece);
  return true;
}

function receive({ okapi, think, acquisitions }, title) {
  let waiting;
  take(think, 0.6, [
    () => page.openApp(okapi),
    () => {
      ({ waiting } = page.openTitle(okapi, acquisitions, title));
    },
    () => page.openReceiving(okapi, title, title),
    () => {
      page.receive(okapi, need(waiting[0], 'GET /orders/pieces', 'an expected piece'));
      page.openTitle(okapi, acquisitions, title);
    },
  ]);
}

/** Starts at the title's page, which is open. */
function unreceive({ okapi, think }, title) {
  let received;
  take(think, 0.4, [
    () => {
      ({ received } = page.pieces(okapi, title));
    },
    () => {
      page.unreceive(okapi, need(received[0], 'GET /orders/pieces', 'a received piece'));
      page.pieces(okapi, title);
    },
  ]);
}
