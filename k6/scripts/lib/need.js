// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';

/** Returns the value, or throws an error of the call whose response lacks it. */
export function need(value, call, what) {
  if (value === undefined || value === null) throw new CallError(`${call} answered without ${what}`, 200);
  return value;
}
