// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';
import { need } from './need.js';
import { createProfile, updateProfile } from './profile-plans.js';

const profiles = '/data-import-profiles';

/** Returns a job profile, by its name. */
export function findJobProfile(okapi, name) {
  const known = jobProfiles(okapi);
  const profile = known.find((candidate) => candidate.name === name);
  // The status 422 prevents retries: a profile does not appear by waiting.
  if (!profile) throw new CallError(`there is no job profile "${name}"; ${nearest(name, known)}`, 422);
  return profile;
}

/** Returns the id, the name and the data type of a job profile. */
export function getJobProfile(okapi, name) {
  const { id } = findJobProfile(okapi, name);
  const { dataType } = okapi.getJson([`${profiles}/jobProfiles/{}`, id]);
  return { id, name, dataType };
}

/** Makes the call that FOLIO's page makes before it uses a profile. */
export function snapshotJobProfile(okapi, id) {
  okapi.get([`${profiles}/profileSnapshots/{}`, id], { profileType: 'JOB_PROFILE', jobProfileId: id });
}

/**
 * Ensures that a job profile exists. It creates a missing profile for bibliographic records. The
 * profiles for holdings and authorities are part of FOLIO.
 */
export function requireJobProfile(okapi, name, { recordType, operation }) {
  if (recordType !== 'Bibliographic') {
    findJobProfile(okapi, name);
    return;
  }
  if (jobProfiles(okapi).some((candidate) => candidate.name === name)) return;
  const plan = operation === 'Update' ? updateProfile(name) : createProfile(okapi, name);
  const addedRelations = plan.steps.map((step, order) => relation(okapi, step, order)).flat();
  make(okapi, 'jobProfiles', { name, dataType: 'MARC', description: 'Made by PerfLab' }, addedRelations);
  console.info(`made the job profile "${name}", which was not there`);
}

function jobProfiles(okapi) {
  return okapi.getJson(`${profiles}/jobProfiles`, { limit: 5000 }).jobProfiles || [];
}

/**
 * Returns the relations of a step of a job: an action, or a match and the action on its results.
 */
function relation(okapi, { match, action, mapping }, order) {
  const mappingId = ensure(okapi, 'mappingProfiles', mapping);
  const actionId = ensure(okapi, 'actionProfiles', action, [
    { masterProfileType: 'ACTION_PROFILE', detailProfileId: mappingId, detailProfileType: 'MAPPING_PROFILE', order: 0 },
  ]);
  if (!match) return [{ masterProfileType: 'JOB_PROFILE', detailProfileId: actionId, detailProfileType: 'ACTION_PROFILE', order }];
  const matchId = ensure(okapi, 'matchProfiles', match);
  return [
    { masterProfileType: 'JOB_PROFILE', detailProfileId: matchId, detailProfileType: 'MATCH_PROFILE', order },
    {
      masterProfileId: matchId, masterProfileType: 'MATCH_PROFILE', detailProfileId: actionId, detailProfileType: 'ACTION_PROFILE',
      order: 0, reactTo: 'MATCH',
    },
  ];
}

/**
 * Returns the id of a profile by its name, and creates a missing profile. An earlier attempt may
 * have created some profiles.
 */
function ensure(okapi, kind, profile, addedRelations = []) {
  const { [kind]: found = [] } = okapi.getJson(`${profiles}/${kind}`, { query: `name=="${profile.name}"`, limit: 1 });
  return found.length > 0 ? found[0].id : make(okapi, kind, profile, addedRelations);
}

function make(okapi, kind, profile, addedRelations) {
  const made = okapi.post(`${profiles}/${kind}`, { profile, addedRelations, deletedRelations: [] }, { expected: 201 });
  return need(made.id, `POST ${profiles}/${kind}`, 'an id');
}

/** Returns a clause with the most similar names. */
function nearest(name, known) {
  if (known.length === 0) return 'there is none at all';
  const listed = known.map((candidate) => candidate.name)
    .sort((a, b) => likeness(b, name) - likeness(a, name) || (a < b ? -1 : 1))
    .slice(0, 5).map((text) => `"${text}"`);
  return `${known.length > listed.length ? 'the nearest are' : 'there are'} ${listed.join(', ')}`;
}

/** Returns the similarity of two texts: the share of pairs of letters that they have in common. */
function likeness(a, b) {
  const [these, those] = [pairs(a), pairs(b)];
  const shared = these.filter((pair) => those.includes(pair)).length;
  return (2 * shared) / (these.length + those.length || 1);
}

function pairs(text) {
  const lower = text.toLowerCase();
  return Array.from({ length: Math.max(lower.length - 1, 0) }, (_, i) => lower.slice(i, i + 2));
}
