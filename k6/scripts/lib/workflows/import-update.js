// SPDX-License-Identifier: Apache-2.0

import { importRecord, recordsOf } from '../copycat.js';
import { by, show, whole } from '../pages.js';
import { take } from '../steps.js';
import { prepare, transaction } from '../transaction.js';

const name = 'Single Record Import (Update)';

/**
 * A user first imports an instance of its own, and then overwrites it with one record after the
 * other.
 */
export const workflow = {
  transactions: [name],
  thinkTime: 4,
  needs: ['target', 'self'],
  begin(user) {
    const { okapi, think, target, self } = user;
    const record = recordsOf(user);
    const { profileId, create, update } = target;
    let id;
    return () => {
      id = id || prepare(name, okapi, () => importRecord(okapi, { ...record(), profileId, selectedJobProfileId: create }));
      if (!id) return;
      transaction(name, okapi, () => take(think, 1, [
        () => openInventory(okapi, update),
        () => openInstance(okapi, self, update, id),
        () => {
          importRecord(okapi, { ...record(), internalIdentifier: id, profileId, selectedJobProfileId: update });
          seeItChanged(okapi, self, update, id);
        },
      ]));
    };
  },
};

const jobProfile = (id) => ['/data-import-profiles/jobProfiles', { query: `id==${id} sortBy name` }];
const targets = by('/copycat/profiles', 'enabled=true sortby name');
const locations = whole('/locations', 'name', 5000);
const tlr = ['/configurations/entries', { query: '(module==SETTINGS and configName==TLR)' }];
const tags = ['/configurations/entries', { query: '(module==TAGS and configName==tags_enabled)' }];
const found = ['/search/instances', { query: '(keyword all "water") sortby title', limit: 100 }];
const holdingsOf = (id) => ['/holdings-storage/holdings', { query: `instanceId==${id}`, limit: 1000 }];
const source = (id) => [['/source-storage/records/{}/formatted', id], { idType: 'INSTANCE' }];
const itemsOf = (id) => ['/inventory/items-by-holdings-id', { offset: 0, query: `holdingsRecordId==${id} sortby barcode/sort.ascending`, limit: 0 }];
const titles = (id) => ['/orders/titles', { query: `instanceId==${id}`, limit: 5000 }];
const mappings = ['/remote-storage/mappings', { limit: 1000 }];

/** The lists that the inventory app loads at its start, in the order of their names. */
const lists = [
  whole('/identifier-types'), whole('/contributor-types', 'name', 400), whole('/contributor-name-types', 'ordering'),
  ...['instance-formats', 'instance-types', 'classification-types', 'alternative-title-types'].map((kind) => whole(`/${kind}`)),
  locations,
  ...[
    'instance-relationship-types', 'instance-statuses', 'modes-of-issuance', 'instance-note-types', 'electronic-access-relationships', 'statistical-code-types',
  ].map((kind) => whole(`/${kind}`)),
  whole('/statistical-codes', 'name', 2000),
  ...[
    'ill-policies', 'holdings-types', 'call-number-types', 'holdings-note-types', 'item-note-types', 'item-damaged-statuses', 'nature-of-content-terms',
    'material-types', 'loan-types',
  ].map((kind) => whole(`/${kind}`)),
  ['/tags', { limit: 10000 }],
  whole('/holdings-sources'),
];

function openInventory(okapi, update) {
  show(okapi, [targets, ...lists, jobProfile(update), targets, jobProfile(update)]);
}

function openInstance(okapi, self, update, id) {
  show(okapi, [found, jobProfile(update), targets, holdingsOf(id), whole('/instance-relationship-types'), tlr, tags]);
  show(okapi, [
    ['/search/instances', { query: `id==${id}` }], jobProfile(update), jobProfile(update), [['/inventory/instances/{}', id]], source(id),
    ['/users', { query: `id==${self}` }], holdingsOf(id), mappings, titles(id), itemsOf(id), locations, jobProfile(update),
  ]);
}

function seeItChanged(okapi, self, update, id) {
  show(okapi, [source(id), jobProfile(update), targets, holdingsOf(id), whole('/instance-relationship-types'), tlr, tags, jobProfile(update), targets]);
  show(okapi, [
    found, ['/users', { query: `id==${self}` }], itemsOf(id), locations, holdingsOf(id), mappings, titles(id),
    ['/search/instances', { query: `id==${id}` }], [['/inventory/instances/{}', id]], ...Array.from({ length: 4 }, () => jobProfile(update)),
  ]);
}
