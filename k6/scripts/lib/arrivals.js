// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

/** Iterations that began late because their user was still busy. */
const lateIterations = new Counter('perflab_late_iterations');
/** Milliseconds from which an iteration is late: timers are not more exact. */
const exact = 50;

/**
 * When the iterations of one user are due in an open load, whatever the response
 * times. The stages are k6's; a target is the rate of all users, per minute.
 * Users are independent Poisson processes, or take turns evenly.
 */
export class Arrivals {
  constructor({ stages, users, user, random, distribution }, wait = sleep, clock = Date.now) {
    this.stages = ends(stages, users);
    this.wait = wait;
    this.clock = clock;
    /** The stage and the time in seconds up to which arrivals are known. */
    this.stage = 0;
    this.at = 0;
    this.gap = distribution === 'Even' ? () => 1 : () => -Math.log(1 - random());
    /** Expected arrivals of this user until the next one. */
    this.left = distribution === 'Even' ? (user % users) / users : this.gap();
  }

  /** Seconds since the start at which the next iteration is due, and at which its stage ends; undefined after the last. */
  next() {
    for (; this.stage < this.stages.length; this.stage++) {
      const { end, rate } = this.stages[this.stage];
      const due = this.at + this.left / rate;
      if (due < end) {
        this.at = due;
        this.left = this.gap();
        return { due, end };
      }
      this.left -= (end - this.at) * rate;
      this.at = end;
    }
    return undefined;
  }

  /**
   * Waits for the next iteration and returns how many milliseconds late it is;
   * undefined if there is none left. What an overload of an earlier stage has
   * left behind is skipped.
   */
  await(start) {
    for (let found = this.next(); found; found = this.next()) {
      const now = this.clock() - start;
      if (now < 1000 * found.due) {
        this.wait(found.due - now / 1000);
        return 0;
      }
      if (now < 1000 * found.end) {
        const late = now - 1000 * found.due;
        if (late > exact) lateIterations.add(1);
        return late;
      }
    }
    return undefined;
  }
}

/** The ends of stages in seconds, and each user's rate per second. */
function ends(stages, users) {
  let end = 0;
  return stages.map(({ duration, target }) => {
    end += parseFloat(duration) / 1000;
    return { end, rate: target / 60 / users };
  });
}
