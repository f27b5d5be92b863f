// SPDX-License-Identifier: Apache-2.0

import { importRecord, recordsOf } from '../copycat.js';
import { show, whole } from '../pages.js';
import { take } from '../steps.js';
import { transaction } from '../transaction.js';

const name = 'Single Record Import (Create)';

/** A user imports one record and opens the instance that it has become. */
export const workflow = {
  transactions: [name],
  thinkTime: 4,
  needs: ['target', 'self'],
  begin(user) {
    const { okapi, think, target, self } = user;
    const record = recordsOf(user);
    return () => {
      transaction(name, okapi, () => take(think, 1, [
        () => look(okapi, self, importRecord(okapi, { ...record(), profileId: target.profileId, selectedJobProfileId: target.create })),
      ]));
    };
  },
};

/** The page makes six of these calls at a time. Here, they follow each other. */
function look(okapi, userId, id) {
  const holdings = ['/holdings-storage/holdings', { query: `instanceId==${id}`, limit: 1000 }];
  const profiles = ['/copycat/profiles', { query: 'enabled=true' }];
  show(okapi, [
    whole('/instance-relationship-types'),
    ['/locations', { limit: 1000 }],
    ['/configurations/entries', { query: '(module==TAGS and configName==tags_enabled)' }],
    profiles, holdings,
    [['/inventory/instances/{}', id]],
    ['/users', { query: `id==${userId}`, limit: 1000 }],
    profiles,
    [['/source-storage/records/{}/formatted', id], { idType: 'INSTANCE' }],
    holdings,
    ['/remote-storage/mappings', { limit: 1000 }],
  ]);
}
