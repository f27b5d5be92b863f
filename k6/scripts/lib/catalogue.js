// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';
import { patiently } from './patience.js';

const most = 1000;
/** Words that are reserved in CQL queries. */
const reserved = ['all', 'and', 'any', 'not', 'prox', 'sortby'];

/**
 * Returns the ids of instances with the source MARC, and words of their titles to search for. It
 * prefers the files of a folder. The test ends if there are none.
 */
export function findCatalogue(okapi, { instances = [], words = [] }) {
  return patiently('cannot find instances', okapi, () => {
    const given = { instances: instances.slice(0, most), words: words.slice(0, most) };
    if (given.instances.length > 0 && given.words.length > 0) return given;
    const { instances: found = [] } = okapi.getJson('/instance-storage/instances', { query: 'source==MARC sortBy hrid', limit: most });
    const ids = found.map(({ id }) => id).filter(Boolean);
    const titles = wordsOf(found.map(({ title = '' }) => title));
    if (ids.length === 0) throw new CallError('no instance has the source MARC: import bibliographic records first', 422);
    if (given.words.length === 0 && titles.length < 3) {
      throw new CallError(`the titles of ${ids.length} instances have ${titles.length} words, which are too few to search for`, 422);
    }
    return {
      instances: given.instances.length > 0 ? given.instances : ids,
      words: given.words.length > 0 ? given.words : titles,
    };
  });
}

function wordsOf(titles) {
  const words = new Set();
  for (const title of titles) {
    for (const word of title.toLowerCase().split(/[^a-z]+/)) {
      if (word.length > 2 && !reserved.includes(word)) words.add(word);
    }
  }
  return [...words].slice(0, most);
}

/** Returns the external ids of patrons, which edge-patron expects. */
export function findAccounts(okapi, { accounts = [] }) {
  if (accounts.length > 0) return accounts.slice(0, most);
  return patiently('cannot find accounts', okapi, () => {
    const { users = [] } = okapi.getJson('/users', { query: 'externalSystemId=="*" sortBy barcode', limit: most });
    const found = users.filter(({ active }) => active !== false).map(({ externalSystemId }) => externalSystemId).filter(Boolean);
    if (found.length === 0) throw new CallError('no user has an externalSystemId, which edge-patron takes for the account', 422);
    return found;
  });
}
