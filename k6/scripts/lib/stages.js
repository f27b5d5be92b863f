// SPDX-License-Identifier: Apache-2.0

/**
 * Returns stages with one user at the start, one more every rampUp/users seconds, and then all
 * users until the end.
 */
export function stages({ users, rampUp, duration }) {
  const ramp = Math.min(rampUp * (users - 1) / users, duration);
  const at = ramp < duration ? users : Math.max(Math.round(users * duration / rampUp), 1);
  return [
    { duration: `${Math.round(ramp * 1000)}ms`, target: at },
    { duration: `${Math.round((duration - ramp) * 1000)}ms`, target: at },
  ];
}
