// SPDX-License-Identifier: Apache-2.0

// A check-in and a check-out with as many requests as FOLIO's pages make, without pauses. The
// benchmark sets the number of iterations.

import http from 'k6/http';
import { Trend } from 'k6/metrics';

const duration = new Trend('transaction_duration', true);

export const options = {
  scenarios: {
    desk: { executor: 'shared-iterations', vus: Number(__ENV.USERS), iterations: Number(__ENV.ITERATIONS), maxDuration: '1h' },
  },
};

const calls = { 'Check-In': calling('Check-In', 24), 'Check-Out': calling('Check-Out', 39) };

function calling(transaction, requests) {
  return Array.from({ length: requests }, (_, i) => ({
    url: `${__ENV.URL}/${transaction}/${i}`,
    params: { tags: { transaction, name: `GET /${transaction}/${i}` } },
  }));
}

export default function () {
  for (const transaction in calls) {
    let spent = 0;
    for (const { url, params } of calls[transaction]) spent += http.get(url, params).timings.duration;
    duration.add(spent, { transaction, outcome: 'ok' });
  }
}
