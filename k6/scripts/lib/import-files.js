// SPDX-License-Identifier: Apache-2.0

// The files to import: generated while they are sent, or exported from the system before. Both
// have next(bytes) for parts and rest() for all, as ArrayBuffers.

import marc from 'k6/x/perflab/marc';
import { CallError } from './okapi.js';

export const { maxRecords, maxImports } = marc;

/** The number of consecutive holdings records of one instance. */
const holdingsPerInstance = 1000;

/** Returns the file of import number n. */
export function generated({ recordType, seed, run, records }, n, { instances = [], location = '' } = {}) {
  return marc.file({ kind: recordType, seed, run, import: n, records, instances, location });
}

/** Returns the references of holdings records: instances with the source MARC, and a location. */
export function findCopies(okapi, records) {
  const wanted = Math.ceil(records / holdingsPerInstance);
  const { instances = [] } = okapi.getJson('/instance-storage/instances', { query: 'source==MARC sortBy hrid', limit: wanted });
  const hrids = instances.map(({ hrid }) => hrid).filter(Boolean);
  if (hrids.length === 0) throw new CallError('no instance has the source MARC: import bibliographic records before holdings', 422);
  const { locations = [] } = okapi.getJson('/locations', { query: 'cql.allRecords=1 sortBy code', limit: 1 });
  if (locations.length === 0) throw new CallError('GET /locations lists none, which holdings need', 422);
  return { instances: hrids, location: locations[0].code };
}

/** A file that was fetched completely: one copy, which is returned in parts. */
export class FetchedFile {
  constructor(body, records) {
    const found = marc.count(body);
    if (found !== records) throw new CallError(`the export has ${found} records instead of ${records}`, 200);
    this.body = body;
    this.sent = 0;
  }

  next(bytes) {
    if (this.sent >= this.body.byteLength) return null;
    const part = this.body.slice(this.sent, this.sent + bytes);
    this.sent += bytes;
    return part;
  }

  rest() {
    return this.body;
  }
}
