// SPDX-License-Identifier: Apache-2.0

/**
 * Makes the steps of a page one after the other, with a pause before each. The pauses are a share
 * of the iteration's think time.
 */
export function take(think, share, steps) {
  for (const step of steps) {
    think.pause(share / steps.length);
    step();
  }
}
