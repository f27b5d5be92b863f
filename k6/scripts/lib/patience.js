// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import exec from 'k6/execution';
import { CallError } from './okapi.js';

/** Seconds in which a target must be usable. */
const limit = 15;

/**
 * Attempts something until it works, and ends the test with a sentence if it
 * has not within 15 seconds, or at once if asking again would not help.
 */
export function patiently(what, okapi, attempt) {
  const deadline = Date.now() + limit * 1000;
  const usual = okapi.timeout;
  for (;;) {
    try {
      okapi.timeout = Math.max((deadline - Date.now()) / 1000, 0.1);
      return attempt();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (refused(error) || Date.now() + 1000 >= deadline) {
        exec.test.abort(`${what} at ${okapi.baseUrl}: ${error.message}`);
      }
      sleep(1);
    } finally {
      okapi.timeout = usual;
    }
  }
}

/** Whether the target understood and said no. */
function refused(error) {
  return error.status >= 400 && error.status < 500 && error.status !== 404 && error.status !== 429;
}
