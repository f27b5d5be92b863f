// SPDX-License-Identifier: Apache-2.0

// Check-in and check-out ("CICO"): users log in once, and then check items in and out at FOLIO's
// circulation desk until the end of the test. README.md lists the environment variables.
//
// The load model is closed: each user makes one transaction after the other, with pauses between
// its steps. A pause is uniformly distributed between zero and twice its share of the think time.
// An iteration therefore has THINK_TIME_SECONDS of pauses on average, independent of the system.
// A user makes
//
//     1 / (think time + response time)
//
// iterations per second. With a think time of 4 s, that is 0.21 if a transaction takes 0.67 s,
// and 0.20 if it takes 1.1 s. The system's response time slows the users down, as it slows
// people, so the achieved rate is a result.
//
// With ARRIVALS_PER_MINUTE, the model is open: transactions are due at that rate, independent of
// the response times. If a transaction starts late because its user is still busy, its duration
// counts from when it was due.

import { sleep } from 'k6';
import exec from 'k6/execution';
import { Arrivals } from './lib/arrivals.js';
import { Desk } from './lib/desk.js';
import { readFolder } from './lib/files.js';
import { Items } from './lib/items.js';
import { findLibrary, findServicePoint, logIn } from './lib/library.js';
import { Okapi } from './lib/okapi.js';
import { generator } from './lib/random.js';
import { releases } from './lib/releases.js';
import { number, oneOf, target, text, whole } from './lib/settings.js';
import { Share } from './lib/shares.js';
import { stages } from './lib/stages.js';
import { Think } from './lib/think.js';

const settings = {
  target: { ...target(), preflights: oneOf('PREFLIGHTS', ['true', 'false']) === 'true' },
  release: releases[oneOf('RELEASE', ['2023', '2026'])],
  users: whole('USERS', undefined, 1),
  rampUp: number('RAMP_UP_SECONDS', 0),
  duration: number('DURATION_SECONDS', undefined, 1),
  thinkTime: number('THINK_TIME_SECONDS', 4),
  checkInPercent: number('CHECK_IN_PERCENT', 43),
  dataDir: text('DATA_DIR', '').replace(/\/+$/, ''),
  seed: text('SEED', '1'),
  arrivals: whole('ARRIVALS_PER_MINUTE', 0, 0),
  distribution: oneOf('ARRIVALS_DISTRIBUTION', ['Poisson', 'Even']),
  stages: JSON.parse(text('PERFLAB_STAGES', 'null')),
};
const folder = settings.dataDir === '' ? undefined : readFolder(settings.dataDir, settings.users);

export const options = {
  scenarios: { cico: settings.arrivals > 0 ? open() : closed() },
  setupTimeout: '300s',
};

function closed() {
  return { executor: 'ramping-vus', startVUs: 1, stages: settings.stages || stages(settings), gracefulRampDown: '0s', gracefulStop: '5s' };
}

function open() {
  return { executor: 'constant-vus', vus: settings.users, duration: `${Math.round(settings.duration * 1000)}ms`, gracefulStop: '5s' };
}

export function setup() {
  const okapi = new Okapi(settings.target);
  logIn(okapi);
  if (!folder) return findLibrary(okapi, { users: settings.users, items: itemsWanted(settings) });
  return folder.servicePoints.length > 0 ? {} : { servicePoints: [findServicePoint(okapi)] };
}

/**
 * Returns the number of the system's items to use. Users lend more items than they take back.
 * When all items are lent, users can no longer choose at random.
 */
function itemsWanted({ users, duration, thinkTime, checkInPercent }) {
  const iterations = users * duration / (thinkTime + 0.5);
  const kept = iterations * Math.max(1 - 2 * checkInPercent / 100, 0);
  return Math.min(Math.max(Math.ceil(1.5 * kept), 5000), 100000);
}

let desk;
let arrivals;

export default function (found) {
  if (!desk) desk = newDesk(folder ? { ...folder, ...found } : found);
  if (settings.arrivals === 0) {
    desk.serve();
    return;
  }
  if (!arrivals) arrivals = newArrivals();
  const late = arrivals.await(exec.scenario.startTime);
  // Without iterations left, the user waits until k6 ends it.
  if (late === undefined) sleep(settings.duration);
  else desk.serve(late);
}

function newArrivals() {
  const { users, distribution, arrivals: rate, duration, seed } = settings;
  const user = exec.vu.idInTest;
  const stages = settings.stages || [{ duration: `${1000 * duration}ms`, target: rate }];
  return new Arrivals({ stages, users, user, distribution, random: generator(`${seed}/arrivals/${user}`) });
}

/** Returns the desk of one user. k6 keeps it for the user's lifetime. */
function newDesk({ shelf, returns, patrons, servicePoints }) {
  const { users, release, checkInPercent } = settings;
  const user = exec.vu.idInTest;
  const random = generator(`${settings.seed}/${user}`);
  return new Desk({
    okapi: new Okapi(settings.target),
    think: new Think(settings.thinkTime, random),
    items: new Items(new Share(shelf, user, users), new Share(returns, user, users), random),
    random,
    patrons,
    servicePointId: servicePoints[user % servicePoints.length],
    release,
    checkInPercent,
  });
}
