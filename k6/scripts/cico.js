// SPDX-License-Identifier: Apache-2.0

// Check-in and check-out ("CICO"): users who log in once and then check items in
// and out at FOLIO's circulation desk until the time is over. README.md lists
// the environment variables.

import exec from 'k6/execution';
import { checkIn } from './lib/check-in.js';
import { checkOut } from './lib/check-out.js';
import { Items } from './lib/items.js';
import { findLibrary } from './lib/library.js';
import { Okapi } from './lib/okapi.js';
import { choose, generator } from './lib/random.js';
import { number, target, text, whole } from './lib/settings.js';
import { Think } from './lib/think.js';
import { transaction } from './lib/transaction.js';

const settings = {
  target: target(),
  users: whole('USERS', undefined, 1),
  rampUp: number('RAMP_UP_SECONDS', 0),
  duration: number('DURATION_SECONDS', undefined, 1),
  thinkTime: number('THINK_TIME_SECONDS', 4),
  checkInPercent: number('CHECK_IN_PERCENT', 43),
  seed: text('SEED', '1'),
};

export const options = {
  scenarios: { cico: { executor: 'ramping-vus', startVUs: 1, stages: stages(settings), gracefulRampDown: '0s', gracefulStop: '5s' } },
  setupTimeout: '60s',
};

/** One user at once, the next each rampUp/users seconds, then all until the end. */
function stages({ users, rampUp, duration }) {
  const ramp = Math.min(rampUp * (users - 1) / users, duration);
  const at = ramp < duration ? users : Math.max(Math.round(users * duration / rampUp), 1);
  return [
    { duration: `${Math.round(ramp * 1000)}ms`, target: at },
    { duration: `${Math.round((duration - ramp) * 1000)}ms`, target: at },
  ];
}

export function setup() {
  return findLibrary(new Okapi(settings.target));
}

let desk;

export default function (library) {
  if (!desk) desk = open(library);
  desk.think.begin();
  if (100 * desk.random() < settings.checkInPercent || desk.items.available.length === 0) {
    takeBack(desk);
  } else {
    lend(desk);
  }
  desk.think.rest();
}

/** What one user has at the desk; k6 keeps it for the user's whole life. */
function open({ items, users, servicePointId }) {
  const user = exec.vu.idInTest;
  const random = generator(`${settings.seed}/${user}`);
  return {
    okapi: new Okapi(settings.target),
    think: new Think(settings.thinkTime, random),
    items: new Items(items, user, settings.users, random),
    random,
    patrons: users,
    servicePointId,
  };
}

function takeBack({ okapi, think, items }) {
  const barcode = items.toTakeBack();
  const done = transaction('Check-In', okapi, () => checkIn(okapi, think, barcode));
  if (done) items.wasTakenBack(barcode);
  else items.wasLent(barcode);
}

function lend({ okapi, think, items, random, patrons, servicePointId }) {
  const barcode = items.toLend();
  transaction('Check-Out', okapi, () => checkOut(okapi, think, servicePointId, choose(random, patrons), barcode));
  items.wasLent(barcode);
}
