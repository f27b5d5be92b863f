// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';

/**
 * The time that a person takes between the steps of one iteration. Its mean is divided into
 * pauses. Each pause is uniformly distributed between zero and twice its share.
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

  /**
   * Waits for the rest of the time, so that users do not speed up when the system rejects
   * requests.
   */
  rest() {
    if (this.left > 0) this.pause(this.left);
  }
}
