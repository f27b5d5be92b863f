// SPDX-License-Identifier: Apache-2.0

import { CallError } from '../answer.js';
import { getFromEdge } from '../edge.js';
import { choose } from '../random.js';
import { transaction } from '../transaction.js';

const name = 'edge-rtac';
/** The number of instances of one look-up, as in the performance team's script. */
const together = 2;

/** A discovery service queries the availability of some instances, for periodicals item by item. */
export const workflow = {
  transactions: [name],
  thinkTime: 4,
  needs: ['catalogue', 'edge'],
  begin({ okapi, think, random, catalogue, edge }) {
    return () => {
      think.pause(0.5);
      const ids = Array.from({ length: together }, () => choose(random, catalogue.instances)).join(',');
      transaction(name, okapi, () => lookUp(okapi, edge, ids));
    };
  },
};

function lookUp(okapi, edge, instanceIds) {
  const body = getFromEdge(okapi, edge.rtac, ['/rtac'], { instanceIds, apikey: edge.key, fullPeriodicals: true }, 'application/xml');
  if (!body.includes('<holding')) throw new CallError('GET /rtac answered without holdings', 200);
}
