// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';

/**
 * The time a person takes between the steps of one iteration. Its mean is
 * spread over pauses; each is uniform between nothing and twice its share.
 */
export class Think {
  constructor(meanSeconds, random, wait = sleep) {
    this.mean = meanSeconds;
    this.random = random;
    this.wait = wait;
    this.left = 0;
  }

  begin() {
    this.left = 1;
  }

  pause(share) {
    this.left -= share;
    this.wait(2 * share * this.mean * this.random());
  }

  /** What is left, so that users do not hurry when the system refuses them. */
  rest() {
    if (this.left > 0) this.pause(this.left);
  }
}
