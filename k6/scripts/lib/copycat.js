// SPDX-License-Identifier: Apache-2.0

// Imports single records with mod-copycat. It fetches a record from a Z39.50 server by an
// identifier, as in the performance team's script, or the call contains the record.

import { b64encode } from 'k6/encoding';
import marc from 'k6/x/perflab/marc';
import { need } from './need.js';
import { CallError } from './okapi.js';
import { patiently } from './patience.js';

/** Returns the target and the job profiles of the imports. The test ends if there is no target. */
export function findTarget(okapi) {
  return patiently('cannot import single records', okapi, () => {
    const { profiles = [] } = okapi.getJson('/copycat/profiles', { query: 'enabled=true sortby name', limit: 1000 });
    const [profile] = profiles;
    if (!profile) throw new CallError('GET /copycat/profiles?query=enabled=true lists none: enable a target under Settings, Inventory', 422);
    return { profileId: profile.id, create: profile.createJobProfileId, update: profile.updateJobProfileId };
  });
}

/**
 * Returns the source of one user's records: the identifiers of a folder in turn, or else
 * generated records.
 */
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
