// SPDX-License-Identifier: Apache-2.0

/**
 * The items one user lends and takes back. Each user has shares of its own, so
 * that two users never use the same item at once. An item is on the shelf until
 * first used, then lent or back.
 */
export class Items {
  /** Of its shelf a user lends; returns, which may be empty, it only takes back. */
  constructor(shelf, returns, random) {
    this.shelf = new Round(shelf, random);
    this.returns = new Round(returns, random);
    this.back = [];
    this.lent = [];
  }

  canLend() {
    return this.shelf.left > 0 || this.back.length > 0;
  }

  /** An item that was never used, else the one that has been back longest; undefined if all are lent. */
  toLend() {
    return this.shelf.left > 0 ? this.shelf.next() : this.back.shift();
  }

  /**
   * An item to check in: of the returns in turn as long as there is something
   * to lend. Without returns, or when all is lent, the item lent longest; and
   * before any is lent, one off the shelf.
   */
  toTakeBack() {
    if (this.returns.length > 0 && this.canLend()) return { barcode: this.nextReturn(), own: false };
    const barcode = this.lent.length > 0 ? this.lent.shift() : this.toLend();
    return { barcode, own: true };
  }

  nextReturn() {
    if (this.returns.left === 0) this.returns.restart();
    return this.returns.next();
  }

  /** Also for an item whose call failed: its next check-in settles what it is. */
  wasLent(barcode) {
    this.lent.push(barcode);
  }

  wasTakenBack(barcode) {
    this.back.push(barcode);
  }
}

/** A walk once around a share, from anywhere. */
class Round {
  constructor(share, random) {
    this.share = share;
    this.start = Math.floor(random() * share.length);
    this.restart();
  }

  get length() {
    return this.share.length;
  }

  restart() {
    this.left = this.share.length;
  }

  next() {
    const index = this.start + this.share.length - this.left--;
    return this.share.at(index % this.share.length);
  }
}
