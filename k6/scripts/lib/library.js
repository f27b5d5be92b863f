// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';
import { patiently } from './patience.js';

const pageSize = 1000;
const maxItems = 5000;
const maxUsers = 1000;

/**
 * What the library under test has to work with: barcodes of available items
 * and of users, and a service point. The test ends if it has none.
 */
export function findLibrary(okapi) {
  patiently('cannot log in', okapi, () => okapi.login());
  return patiently('cannot find something to lend', okapi, () => ({
    servicePointId: firstServicePoint(okapi),
    items: barcodes(okapi, '/inventory/items', 'items', 'status.name=="Available" sortBy barcode', maxItems),
    users: barcodes(okapi, '/users', 'users', 'cql.allRecords=1 sortBy barcode', maxUsers),
  }));
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
