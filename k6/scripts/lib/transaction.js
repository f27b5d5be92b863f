// SPDX-License-Identifier: Apache-2.0

import { Trend } from 'k6/metrics';
import { CallError } from './okapi.js';

const duration = new Trend('transaction_duration', true);

/** Errors each user tells about; the log is for reading, the metrics count them all. */
const errorsTold = 10;
let errors = 0;

/** Records a transaction of so many milliseconds; outcome is "ok" or "error". */
export function record(transaction, milliseconds, outcome) {
  duration.add(milliseconds, { transaction, outcome });
}

/**
 * Makes the calls of a transaction, tagged with its name, and records the sum of
 * their times. The first call that fails ends the transaction. Returns whether none did.
 */
export function transaction(name, okapi, calls) {
  okapi.spent = 0;
  okapi.transaction = name;
  try {
    calls();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    record(name, okapi.spent, 'error');
    complain(`${name}: ${error.message}`);
    return false;
  } finally {
    okapi.transaction = '';
  }
  record(name, okapi.spent, 'ok');
  return true;
}

function complain(message) {
  if (errors++ < errorsTold) console.error(message);
}
