// SPDX-License-Identifier: Apache-2.0

import { Trend } from 'k6/metrics';
import { CallError } from './okapi.js';

const duration = new Trend('transaction_duration', true);

/** The number of errors that each user logs. The metrics count all errors. */
const errorsTold = 10;
let errors = 0;

/** Records a transaction with this duration. outcome is "ok" or "error". */
export function record(transaction, milliseconds, outcome) {
  duration.add(milliseconds, { transaction, outcome });
}

/**
 * Makes the calls of a transaction, tagged with its name, and records the sum of their times. The
 * first failed call ends the transaction. Returns whether all calls succeeded.
 */
export function transaction(name, okapi, calls) {
  return attempt(name, okapi, calls, () => okapi.spent);
}

/**
 * Does the same with the elapsed time, for work that the system continues by itself between calls
 * that only query its progress.
 */
export function elapsed(name, okapi, calls) {
  const began = Date.now();
  return attempt(name, okapi, calls, () => Date.now() - began);
}

function attempt(name, okapi, calls, took) {
  okapi.spent = okapi.late || 0;
  okapi.late = 0;
  okapi.transaction = name;
  try {
    calls();
  } catch (error) {
    fail(name, took(), error);
    return false;
  } finally {
    okapi.transaction = '';
  }
  record(name, took(), 'ok');
  return true;
}

/**
 * Creates the data that a transaction uses, which is not part of its time. Returns the result of
 * the calls, or nothing if one fails. In that case, the transaction is impossible and counts as
 * failed.
 */
export function prepare(name, okapi, calls) {
  okapi.spent = 0;
  try {
    return calls();
  } catch (error) {
    fail(name, okapi.spent, error);
    return undefined;
  }
}

function fail(name, milliseconds, error) {
  if (!(error instanceof CallError)) throw error;
  record(name, milliseconds, 'error');
  complain(`${name}: ${error.message}`);
}

function complain(message) {
  if (errors++ < errorsTold) console.error(message);
}
