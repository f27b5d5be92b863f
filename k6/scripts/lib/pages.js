// SPDX-License-Identifier: Apache-2.0

// Calls that many of FOLIO's pages make: a path, and a query in the page's order.

/** All records of a kind. */
export function whole(path, sortedBy = 'name', limit = 1000) {
  return [path, { query: `cql.allRecords=1 sortby ${sortedBy}`, limit }];
}

/** A setting, by its module and its name. */
export function setting(module, name) {
  return ['/configurations/entries', { query: `(module=${module} and configName=${name})`, limit: 1000 }];
}

/** The records of a query. */
export function by(path, query, limit = 1000) {
  return [path, { query, limit }];
}

/** One record, with the limit that the pages send with it. */
export function one(template, ...ids) {
  return [[template, ...ids], { limit: 1000 }];
}

/** Makes calls whose responses only the page would use. */
export function show(okapi, calls) {
  for (const [path, query] of calls) okapi.get(path, query);
}
