// SPDX-License-Identifier: Apache-2.0

import { CallError } from './okapi.js';
import { need } from './need.js';
import { patiently } from './patience.js';

/**
 * Returns the consortium of the tenant, and a type for new instances. The test ends if there is
 * none.
 */
export function findConsortium(okapi) {
  return patiently('cannot share instances', okapi, () => {
    const { userTenants = [] } = okapi.getJson('/user-tenants', { limit: 1 });
    const [member] = userTenants;
    if (!member || !member.consortiumId) throw new CallError(`tenant ${okapi.tenant} is no member of a consortium, which sharing an instance needs`, 422);
    if (member.centralTenantId === okapi.tenant) throw new CallError(`tenant ${okapi.tenant} is the consortium's central one, whose instances are shared already`, 422);
    const { instanceTypes = [] } = okapi.getJson('/instance-types', { query: 'cql.allRecords=1 sortby name', limit: 1 });
    return {
      id: member.consortiumId,
      central: member.centralTenantId,
      instanceTypeId: need(instanceTypes[0] && instanceTypes[0].id, 'GET /instance-types', 'a type'),
    };
  });
}
