// SPDX-License-Identifier: Apache-2.0

import { workflow as checkInCheckOut } from './check-in-check-out.js';
import { workflow as exportCustom } from './export-custom.js';
import { workflow as exportDefault } from './export-default.js';
import { workflow as importCreate } from './import-create.js';
import { workflow as importUpdate } from './import-update.js';
import { workflow as invoices } from './invoices.js';
import { workflow as itemRequest } from './item-request.js';
import { workflow as oaiRecords } from './oai-records.js';
import { workflow as orders } from './orders.js';
import { workflow as receiving } from './receiving.js';
import { workflow as renewLoan } from './renew-loan.js';
import { workflow as rtac } from './rtac.js';
import { workflow as searchAuthority } from './search-authority.js';
import { workflow as searchBoolean } from './search-boolean.js';
import { workflow as searchContributor } from './search-contributor.js';
import { workflow as searchFilter } from './search-filter.js';
import { workflow as searchKeyword } from './search-keyword.js';
import { workflow as searchSubject } from './search-subject.js';
import { workflow as searchTitle } from './search-title.js';
import { workflow as serials } from './serials.js';
import { workflow as shareInstance } from './share-instance.js';
import { workflow as viewAccount } from './view-account.js';

/**
 * All workflows, by their names in WORKFLOWS. Each has the transactions that it records, the mean
 * of its pauses per iteration in seconds, and the data that setup must find for it. begin returns
 * the iteration of a user.
 */
export const workflows = {
  invoices,
  'check-in-check-out': checkInCheckOut,
  'share-instance': shareInstance,
  'export-custom': exportCustom,
  'export-default': exportDefault,
  'view-account': viewAccount,
  'item-request': itemRequest,
  'search-authority': searchAuthority,
  'search-boolean': searchBoolean,
  'search-contributor': searchContributor,
  'search-filter': searchFilter,
  'search-keyword': searchKeyword,
  'search-subject': searchSubject,
  'search-title': searchTitle,
  'oai-records': oaiRecords,
  orders,
  rtac,
  'import-create': importCreate,
  'import-update': importUpdate,
  receiving,
  serials,
  'renew-loan': renewLoan,
};
