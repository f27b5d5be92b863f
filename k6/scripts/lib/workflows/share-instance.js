// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import { CallError } from '../okapi.js';
import { elapsed, prepare } from '../transaction.js';

const name = 'Share local instance';
/** Seconds between two queries, and seconds after which a user gives up. */
const look = 2;
const patience = 120;

/** A user creates an instance, shares it with the consortium, and waits until it is shared. */
export const workflow = {
  transactions: [name],
  thinkTime: 4,
  needs: ['consortium'],
  begin({ okapi, think, consortium, unique }) {
    return () => {
      const instance = { id: crypto.randomUUID(), source: 'FOLIO', title: unique('PerfLab'), instanceTypeId: consortium.instanceTypeId };
      const made = prepare(name, okapi, () => make(okapi, instance));
      think.pause(0.5);
      if (made) elapsed(name, okapi, () => share(okapi, consortium, instance.id));
    };
  },
};

function make(okapi, instance) {
  okapi.call('POST', '/inventory/instances', { body: JSON.stringify(instance), expected: 201 });
  return true;
}

function share(okapi, consortium, instanceIdentifier) {
  const { status, error } = okapi.post(['/consortia/{}/sharing/instances', consortium.id], {
    sourceTenantId: okapi.tenant, instanceIdentifier, targetTenantId: consortium.central,
  }, { expected: 201 });
  if (status === 'ERROR') throw new CallError(`POST /consortia/{}/sharing/instances answered ERROR: ${error}`, 201);
  const deadline = Date.now() + patience * 1000;
  while (!isShared(okapi, instanceIdentifier)) {
    if (Date.now() >= deadline) throw new CallError(`the instance was not shared within ${patience} s`, 200);
    sleep(look);
  }
}

/** Returns whether an instance is shared: the member's copy is then a shadow of the central one. */
function isShared(okapi, id) {
  const { source = '' } = okapi.getJson(['/inventory/instances/{}', id]);
  return source.startsWith('CONSORTIUM-');
}
