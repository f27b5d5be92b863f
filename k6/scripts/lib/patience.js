// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import exec from 'k6/execution';
import { CallError } from './okapi.js';

/** Seconds within which a target must be usable. */
const limit = 15;

/**
 * Retries an attempt until it succeeds. It ends the test with a message if the attempt does not
 * succeed within 15 seconds, or immediately if a retry would not help.
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

/** Returns whether the target rejected the request, so that a retry would not help. */
function refused(error) {
  return error.status >= 400 && error.status < 500 && error.status !== 404 && error.status !== 429;
}
