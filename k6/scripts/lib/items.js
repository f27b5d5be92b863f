// SPDX-License-Identifier: Apache-2.0

/**
 * The items that one user lends and takes back. Each user has its own shares, so that two users
 * never use the same item at once. An item is on the shelf until its first use, and then lent or
 * back.
 */
export class Items {
  /**
   * A user lends items of its shelf. It only takes back items of its returns, which may be empty.
   */
  constructor(shelf, returns, random) {
    this.shelf = new Round(shelf, random);
    this.returns = new Round(returns, random);
    this.back = [];
    this.lent = [];
  }

  canLend() {
    return this.shelf.left > 0 || this.back.length > 0;
  }

  /**
   * Returns an item that was never used, or else the one that has been back longest. It returns
   * undefined if all items are lent.
   */
  toLend() {
    return this.shelf.left > 0 ? this.shelf.next() : this.back.shift();
  }

  /**
   * Returns an item to check in: the next return, as long as there are items to lend. Without
   * returns, or if all items are lent, it is the item that was lent first. Before any item is
   * lent, it is one from the shelf.
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

  /** Also adds an item whose call failed, because its next check-in corrects its status. */
  wasLent(barcode) {
    this.lent.push(barcode);
  }

  wasTakenBack(barcode) {
    this.back.push(barcode);
  }
}

/** A cycle through a share, from a random start. */
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
