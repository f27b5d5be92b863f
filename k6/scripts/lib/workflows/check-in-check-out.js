// SPDX-License-Identifier: Apache-2.0

import { Desk } from '../desk.js';
import { Items } from '../items.js';

/** Users at the circulation desk, as in cico.js. */
export const workflow = {
  transactions: ['Check-In', 'Check-Out'],
  thinkTime: 4,
  needs: ['library'],
  begin({ okapi, think, random, library, items, returns, user, settings }) {
    const { patrons, servicePoints } = library;
    const { release, checkInPercent } = settings;
    const desk = new Desk({
      okapi, think, random, patrons, release, checkInPercent,
      items: new Items(items, returns, random),
      servicePointId: servicePoints[user % servicePoints.length],
    });
    return () => desk.serve();
  },
};
