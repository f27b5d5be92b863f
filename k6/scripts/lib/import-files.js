// SPDX-License-Identifier: Apache-2.0

// The files to import: made as they are sent, or exported from the system
// before. Both have next(bytes) for parts and rest() for all, as ArrayBuffers.

import marc from 'k6/x/perflab/marc';
import { CallError } from './okapi.js';

export const { maxRecords, maxImports } = marc;

/** Holdings records in a row that belong to one instance. */
const holdingsPerInstance = 1000;

/** The file of import number n. */
export function generated({ recordType, seed, run, records }, n, { instances = [], location = '' } = {}) {
  return marc.file({ kind: recordType, seed, run, import: n, records, instances, location });
}

/** What holdings records refer to: instances that came from MARC, and a location. */
export function findCopies(okapi, records) {
  const wanted = Math.ceil(records / holdingsPerInstance);
  const { instances = [] } = okapi.getJson('/instance-storage/instances', { query: 'source==MARC sortBy hrid', limit: wanted });
  const hrids = instances.map(({ hrid }) => hrid).filter(Boolean);
  if (hrids.length === 0) throw new CallError('no instance has the source MARC: import bibliographic records before holdings', 422);
  const { locations = [] } = okapi.getJson('/locations', { query: 'cql.allRecords=1 sortBy code', limit: 1 });
  if (locations.length === 0) throw new CallError('GET /locations lists none, which holdings need', 422);
  return { instances: hrids, location: locations[0].code };
}

/** A file that was fetched whole: one copy, from which parts are cut. */
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
