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
  return attempt(name, okapi, calls, () => okapi.spent);
}

/**
 * The same by the clock: for what the system goes on with by itself, between
 * calls that only look how far it is.
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
 * Makes what a transaction is to work on, which is no part of its time. Returns
 * what the calls return; or nothing if one fails: then the transaction, which
 * cannot be, has failed.
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
