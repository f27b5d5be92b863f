// SPDX-License-Identifier: Apache-2.0

import exec from 'k6/execution';
import { CallError } from './okapi.js';
import { patiently } from './patience.js';
import { deal, requireShares } from './shares.js';

const pageSize = 1000;
const maxPatrons = 1000;

/** Logs in, and ends the test with a message if that fails. */
export function logIn(okapi) {
  patiently('cannot log in', okapi, () => okapi.login());
}

/**
 * Returns the data of the library under test: barcodes of available items and of patrons, and a
 * service point. The test ends if there are none.
 */
export function findLibrary(okapi, { users, items }) {
  const found = patiently('cannot find something to lend', okapi, () => ({
    servicePoints: [firstServicePoint(okapi)],
    shelf: deal(barcodes(okapi, '/inventory/items', 'items', 'status.name=="Available" sortBy barcode', items), users),
    returns: [],
    patrons: barcodes(okapi, '/users', 'users', 'cql.allRecords=1 sortBy barcode', maxPatrons),
  }));
  try {
    requireShares(found.shelf, users, `${okapi.baseUrl}/inventory/items with status Available`);
  } catch (error) {
    exec.test.abort(error.message);
  }
  return found;
}

/** Returns the service point to use if none is specified. */
export function findServicePoint(okapi) {
  return patiently('cannot find a service point', okapi, () => firstServicePoint(okapi));
}

function firstServicePoint(okapi) {
  const { servicepoints = [] } = okapi.getJson('/service-points', { limit: 1000 });
  if (servicepoints.length === 0) throw new CallError('GET /service-points lists none', 200);
  return servicepoints[0].id;
}

function barcodes(okapi, path, key, query, max) {
  const found = [];
  for (let offset = 0; found.length < max; offset += pageSize) {
    const page = okapi.getJson(path, { query, limit: pageSize, offset })[key] || [];
    for (const { barcode, active } of page) {
      if (barcode && active !== false) found.push(barcode);
    }
    if (page.length < pageSize) break;
  }
  if (found.length === 0) throw new CallError(`GET ${path}?query=${query} lists none with a barcode`, 200);
  return found.slice(0, max);
}
