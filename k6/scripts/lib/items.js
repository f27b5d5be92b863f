// SPDX-License-Identifier: Apache-2.0

import { hash } from './random.js';

/**
 * The items one user lends and takes back. Each user has a share of its own,
 * the same whoever of several load generators works it out, so that users
 * hardly ever meet over an item.
 */
export class Items {
  constructor(barcodes, user, users, random) {
    this.random = random;
    this.available = barcodes.filter((barcode) => hash(barcode) % users === user % users);
    // Fewer items than users: better to meet than to stand idle.
    if (this.available.length === 0) this.available = barcodes.slice();
    this.lent = [];
  }

  /** Takes an item off the shelf; undefined if all are lent. */
  toLend() {
    const at = Math.floor(this.random() * this.available.length);
    return this.available.splice(at, 1)[0];
  }

  /** An item to check in: the one lent longest, else one off the shelf. */
  toTakeBack() {
    return this.lent.length > 0 ? this.lent.shift() : this.toLend();
  }

  /** Also for an item whose call failed: its next check-in settles what it is. */
  wasLent(barcode) {
    this.lent.push(barcode);
  }

  wasTakenBack(barcode) {
    this.available.push(barcode);
  }
}
