// SPDX-License-Identifier: Apache-2.0

// The settings from the environment. An error stops k6 before the test starts.

/**
 * Returns the text of an environment variable, or the fallback. Without a fallback, it must be
 * set.
 */
export function text(name, fallback) {
  const value = __ENV[name];
  if (value !== undefined && value !== '') return value;
  if (fallback === undefined) throw new Error(`environment variable ${name} is not set`);
  return fallback;
}

/** Returns a number of at least min. */
export function number(name, fallback, min = 0) {
  const value = Number(text(name, fallback === undefined ? undefined : String(fallback)));
  if (!(value >= min)) throw new Error(`environment variable ${name} is "${__ENV[name]}", not a number of at least ${min}`);
  return value;
}

/** Returns a whole number from min to max. */
export function whole(name, fallback, min, max = Number.MAX_SAFE_INTEGER) {
  const value = number(name, fallback, min);
  if (!Number.isInteger(value) || value > max) {
    throw new Error(`environment variable ${name} is "${__ENV[name]}", not a whole number from ${min} to ${max}`);
  }
  return value;
}

/** Returns the address of the system under test and the login. */
export function target() {
  return {
    baseUrl: text('BASE_URL').replace(/\/+$/, ''),
    tenant: text('TENANT', 'diku'),
    username: text('OKAPI_USERNAME'),
    password: text('OKAPI_PASSWORD'),
    login: oneOf('LOGIN', ['Okapi', 'Expiring']),
    run: text('PERFLAB_RUN', 'by-hand'),
  };
}

/** Returns one of several words, or the first one if the variable is not set. */
export function oneOf(name, words) {
  const value = text(name, words[0]);
  if (!words.includes(value)) throw new Error(`environment variable ${name} is "${value}", not one of ${words.join(', ')}`);
  return value;
}
