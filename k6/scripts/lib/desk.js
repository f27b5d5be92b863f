// SPDX-License-Identifier: Apache-2.0

import { checkIn } from './check-in.js';
import { checkOut } from './check-out.js';
import { choose } from './random.js';
import { transaction } from './transaction.js';

/** A user at the circulation desk who checks items in and out at random. */
export class Desk {
  constructor({ okapi, think, random, items, patrons, servicePointId, release, checkInPercent }) {
    this.okapi = okapi;
    this.think = think;
    this.random = random;
    this.items = items;
    this.patrons = patrons;
    this.servicePointId = servicePointId;
    this.release = release;
    this.checkInPercent = checkInPercent;
    this.sessionId = crypto.randomUUID();
  }

  /**
   * Makes one iteration: a transaction with its think time. A late start adds to the
   * transaction's duration.
   */
  serve(late = 0) {
    this.okapi.late = late;
    this.think.begin();
    const dice = 100 * this.random();
    // When all items are lent, none can be checked out.
    if (dice < this.checkInPercent || !this.items.canLend()) this.takeBack();
    else this.lend();
    this.think.rest();
  }

  takeBack() {
    const { barcode, own } = this.items.toTakeBack();
    const done = transaction('Check-In', this.okapi, () => checkIn(this, barcode));
    if (!own) return;
    if (done) this.items.wasTakenBack(barcode);
    else this.items.wasLent(barcode);
  }

  lend() {
    const barcode = this.items.toLend();
    const patron = choose(this.random, this.patrons);
    transaction('Check-Out', this.okapi, () => checkOut(this, patron, barcode));
    this.items.wasLent(barcode);
  }
}
