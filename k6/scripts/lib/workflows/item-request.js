// SPDX-License-Identifier: Apache-2.0

import exec from 'k6/execution';
import { need } from '../need.js';
import { prepare, transaction } from '../transaction.js';

const name = 'Create ILR';
/** The number of holds on one item before the next item is lent. Long queues are slow. */
const holdsPerItem = 10;

/**
 * Places a hold on an item that is on loan. A user lends one of its items to one patron and
 * places holds on it for others, and then continues with the next item.
 */
export const workflow = {
  transactions: [name],
  // The script makes 3 requests per minute and user. An iteration has three.
  thinkTime: 60,
  needs: ['library'],
  begin({ okapi, think, library, items, user }) {
    const queue = new Queue(items, library.patrons);
    const servicePointId = library.servicePoints[user % library.servicePoints.length];
    return () => {
      think.pause(0.3);
      if (queue.ended()) queue.restart((item, patron) => prepare(name, okapi, () => lend(okapi, item, patron, servicePointId)));
      if (queue.ended()) return;
      const request = prepare(name, okapi, () => look(okapi, queue.item, queue.next(), servicePointId));
      think.pause(0.3);
      if (request) transaction(name, okapi, () => okapi.post('/circulation/requests', request, { expected: 201 }));
    };
  },
};

/** A user's items, one after the other, each with the patrons who wait for it. */
class Queue {
  constructor(items, patrons) {
    this.items = items;
    this.patrons = patrons;
    this.used = 0;
    this.left = 0;
    if (patrons.length < 2) exec.test.abort(`${name}: ${patrons.length} patrons are too few: one has the item that another waits for`);
  }

  ended() {
    return this.left === 0;
  }

  /** Lends the next item to the first of the next patrons. */
  restart(lend) {
    if (this.used === this.items.length) {
      const used = `the ${this.items.length} items of one user are used up, after ${holdsPerItem} holds on each`;
      exec.test.abort(`${name}: ${used}: provide more items, fewer users or a longer think time`);
    }
    const waiting = Math.min(holdsPerItem, this.patrons.length - 1);
    this.item = this.items.at(this.used);
    this.patron = this.used * (waiting + 1);
    this.used++;
    if (lend(this.item, this.patronAt(this.patron))) this.left = waiting;
  }

  next() {
    this.left--;
    this.patron++;
    return this.patronAt(this.patron);
  }

  patronAt(index) {
    return this.patrons[index % this.patrons.length];
  }
}

function lend(okapi, itemBarcode, userBarcode, servicePointId) {
  return okapi.post('/circulation/check-out-by-barcode', { itemBarcode, userBarcode, loanDate: new Date().toISOString(), servicePointId }, { expected: 201 });
}

/** Looks up the data of a request. The performance team's page has no times for these calls. */
function look(okapi, itemBarcode, userBarcode, pickupServicePointId) {
  const { users = [] } = okapi.getJson('/users', { query: `(barcode=="${userBarcode}")` });
  const { items = [] } = okapi.getJson('/inventory/items', { query: `(barcode=="${itemBarcode}")` });
  const user = need(users[0], 'GET /users', `the user with barcode ${userBarcode}`);
  const item = need(items[0], 'GET /inventory/items', `the item with barcode ${itemBarcode}`);
  const { instanceId } = okapi.getJson(['/holdings-storage/holdings/{}', item.holdingsRecordId]);
  return {
    requestType: 'Hold',
    requestLevel: 'Item',
    fulfillmentPreference: 'Hold Shelf',
    instanceId: need(instanceId, 'GET /holdings-storage/holdings/{}', 'instanceId'),
    holdingsRecordId: item.holdingsRecordId,
    itemId: item.id,
    requesterId: user.id,
    pickupServicePointId,
    requestDate: new Date().toISOString(),
  };
}
