// SPDX-License-Identifier: Apache-2.0

// Single records imported by mod-copycat: fetched from a Z39.50 server by an
// identifier, as the performance team does, or given in the call.

import { b64encode } from 'k6/encoding';
import marc from 'k6/x/perflab/marc';
import { need } from './need.js';
import { CallError } from './okapi.js';
import { patiently } from './patience.js';

/** The target and the job profiles to import with. The test ends if there is none. */
export function findTarget(okapi) {
  return patiently('cannot import single records', okapi, () => {
    const { profiles = [] } = okapi.getJson('/copycat/profiles', { query: 'enabled=true sortby name', limit: 1000 });
    const [profile] = profiles;
    if (!profile) throw new CallError('GET /copycat/profiles?query=enabled=true lists none: enable a target under Settings, Inventory', 422);
    return { profileId: profile.id, create: profile.createJobProfileId, update: profile.updateJobProfileId };
  });
}

/** Where one user's records come from: the identifiers of a folder in turn, else made. */
export function recordsOf({ lists: { identifiers = [] }, settings: { seed, run }, user }) {
  if (identifiers.length > 0) {
    let next = user;
    return () => ({ externalIdentifier: identifiers[next++ % identifiers.length] });
  }
  const file = marc.file({ kind: 'Bibliographic', seed, run: `${run} copycat`, import: user, records: marc.maxRecords, instances: [], location: '' });
  return () => ({ record: { marc: b64encode(file.next(1)) } });
}

/** Imports a record. Returns the id of its instance. */
export function importRecord(okapi, request) {
  const { internalIdentifier } = okapi.post('/copycat/imports', request, { expected: 200 });
  return need(internalIdentifier, 'POST /copycat/imports', 'internalIdentifier');
}
