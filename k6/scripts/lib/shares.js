// SPDX-License-Identifier: Apache-2.0

import { hash } from './random.js';

/** Returns the user, from 0, who owns an item. It is the same for all load generators and lists. */
function owner(barcode, users) {
  return hash(barcode) % users;
}

/** Returns the barcodes, each once, in the order of the users who own them. */
export function deal(barcodes, users) {
  const hands = Array.from({ length: users }, () => []);
  for (const barcode of new Set(barcodes)) hands[owner(barcode, users)].push(barcode);
  return hands.flat();
}

/** One user's part of a list that was dealt. It copies nothing. */
export class Share {
  constructor(dealt, user, users) {
    const slot = user % users;
    this.dealt = dealt;
    this.from = firstOf(dealt, slot, users);
    this.length = firstOf(dealt, slot + 1, users) - this.from;
  }

  at(index) {
    return this.dealt[this.from + index];
  }
}

/** Returns the position of the first barcode that belongs to a user or to a later one. */
function firstOf(dealt, slot, users) {
  let low = 0;
  let high = dealt.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (owner(dealt[middle], users) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Throws an error if a user has no item of its own, because two users may never share one. */
export function requireShares(dealt, users, what) {
  for (let user = 0; user < users; user++) {
    if (new Share(dealt, user, users).length === 0) {
      throw new Error(`${what}: ${dealt.length} items are too few for ${users} users to have some of their own each; provide more items or fewer users`);
    }
  }
}
