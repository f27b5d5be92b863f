// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';

/** The value, or the failure of the call whose answer should have had it. */
export function need(value, call, what) {
  if (value === undefined || value === null) throw new CallError(`${call} answered without ${what}`, 200);
  return value;
}
