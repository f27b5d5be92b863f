// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

/** Iterations that started late because their user was still busy. */
const lateIterations = new Counter('perflab_late_iterations');
/** The delay in milliseconds above which an iteration is late. Timers are not more precise. */
const exact = 50;

/**
 * The times at which the iterations of one user are due in an open load, independent of the
 * response times. The stages are k6's, but a target is the rate of all users, per minute. Users
 * are independent Poisson processes, or take turns evenly.
 */
export class Arrivals {
  constructor({ stages, users, user, random, distribution }, wait = sleep, clock = Date.now) {
    this.stages = ends(stages, users);
    this.wait = wait;
    this.clock = clock;
    /** The stage and the time in seconds up to which arrivals are calculated. */
    this.stage = 0;
    this.at = 0;
    this.gap = distribution === 'Even' ? () => 1 : () => -Math.log(1 - random());
    /** Expected arrivals of this user until the next one. */
    this.left = distribution === 'Even' ? (user % users) / users : this.gap();
  }

  /**
   * Returns when the next iteration is due and when its stage ends, in seconds since the start.
   * It returns undefined after the last iteration.
   */
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
   * Waits for the next iteration and returns its delay in milliseconds, or undefined if none is
   * left. It skips the overdue iterations of earlier stages, which an overload can cause.
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

/** Returns the ends of the stages in seconds, and the rate of each user per second. */
function ends(stages, users) {
  let end = 0;
  return stages.map(({ duration, target }) => {
    end += parseFloat(duration) / 1000;
    return { end, rate: target / 60 / users };
  });
}
