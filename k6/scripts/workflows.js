// SPDX-License-Identifier: Apache-2.0

// The workflows of a library's day: any set of them at once, each with its own users. This is the
// mixed load of FOLIO's performance team. README.md lists the workflows and the environment
// variables.
//
// Each workflow is one k6 scenario. Its users make one iteration after the other, with pauses as
// in cico.js. An iteration changes only its user's own records, so that no user needs a record
// that another has used up.

import exec from 'k6/execution';
import { findAcquisitions, findSelf } from './lib/acquisitions.js';
import { findAccounts, findCatalogue } from './lib/catalogue.js';
import { findConsortium } from './lib/consortium.js';
import { findTarget } from './lib/copycat.js';
import { requireExportProfile } from './lib/data-export.js';
import { edgeSettings } from './lib/edge.js';
import { readFolder, readList } from './lib/files.js';
import { findLibrary, findServicePoint, logIn } from './lib/library.js';
import { Okapi } from './lib/okapi.js';
import { patiently } from './lib/patience.js';
import { generator } from './lib/random.js';
import { releases } from './lib/releases.js';
import { number, oneOf, target, text, whole } from './lib/settings.js';
import { Share } from './lib/shares.js';
import { stages } from './lib/stages.js';
import { Think } from './lib/think.js';
import { choose } from './lib/workflows/choice.js';
import { workflows } from './lib/workflows/table.js';

const chosen = choose(text('WORKFLOWS'), workflows);
const users = chosen.reduce((sum, one) => sum + one.users, 0);
const needed = new Set(chosen.flatMap(({ workflow }) => workflow.needs));

const settings = {
  target: { ...target(), preflights: oneOf('PREFLIGHTS', ['true', 'false']) === 'true' },
  release: releases[oneOf('RELEASE', ['2023', '2026'])],
  rampUp: number('RAMP_UP_SECONDS', 0),
  duration: number('DURATION_SECONDS', undefined, 1),
  thinkTime: text('THINK_TIME_SECONDS', '') === '' ? undefined : number('THINK_TIME_SECONDS', 0),
  checkInPercent: number('CHECK_IN_PERCENT', 43),
  exportRecords: whole('EXPORT_RECORDS', 100, 1, 1000),
  poll: number('POLL_SECONDS', 5, 0.1),
  stallTimeout: number('STALL_TIMEOUT_SECONDS', 1800, 1),
  dataDir: text('DATA_DIR', '').replace(/\/+$/, ''),
  seed: text('SEED', '1'),
  run: text('PERFLAB_RUN', 'by-hand'),
};
const edge = needed.has('edge') ? edgeSettings() : undefined;
const folder = settings.dataDir !== '' && needed.has('library') ? readFolder(settings.dataDir, users) : undefined;
const lists = settings.dataDir === '' ? {} : {
  instances: readList(settings.dataDir, 'instances.csv'),
  words: readList(settings.dataDir, 'search-words.csv'),
  accounts: readList(settings.dataDir, 'accounts.csv'),
  identifiers: readList(settings.dataDir, 'external-identifiers.csv'),
};

export const options = {
  scenarios: Object.fromEntries(chosen.map((one) => [one.name, {
    executor: 'ramping-vus',
    startVUs: 1,
    stages: stages({ users: one.users, rampUp: settings.rampUp, duration: settings.duration }),
    gracefulRampDown: '0s',
    gracefulStop: '5s',
  }])),
  setupTimeout: '300s',
};

/** The functions that find the data that workflows need. Each is called once for all workflows. */
const finders = {
  library: (okapi) => {
    if (!folder) return findLibrary(okapi, { users, items: Math.max(5000, 250 * users) });
    return folder.servicePoints.length > 0 ? {} : { servicePoints: [findServicePoint(okapi)] };
  },
  catalogue: (okapi) => findCatalogue(okapi, lists),
  accounts: (okapi) => findAccounts(okapi, lists),
  acquisitions: findAcquisitions,
  consortium: findConsortium,
  exportProfile: (okapi) => patiently('cannot export', okapi, () => requireExportProfile(okapi)),
  self: (okapi) => patiently('cannot tell who is logged in', okapi, () => findSelf(okapi)),
  target: findTarget,
};

export function setup() {
  requireOneRunner();
  const okapi = new Okapi(settings.target);
  logIn(okapi);
  const found = {};
  for (const name of needed) {
    if (finders[name]) found[name] = finders[name](okapi);
  }
  return found;
}

/**
 * Users divide records by user number. The numbers are consecutive from 1 only if there is one
 * runner.
 */
function requireOneRunner() {
  const segment = String(exec.test.options.executionSegment || '0:1');
  if (segment !== '0:1') exec.test.abort(`workflows.js runs in one runner and not in part ${segment} of several: set parallelism to 1`);
}

/** The workflows that each user has started. k6 keeps them for the user's lifetime. */
const begun = {};

export default function (found) {
  const { name } = exec.scenario;
  if (!begun[name]) begun[name] = begin(chosen.find((one) => one.name === name), found);
  const { think, iterate } = begun[name];
  think.begin();
  iterate();
  think.rest();
}

function begin({ workflow, name }, found) {
  const user = exec.vu.idInTest;
  const random = generator(`${settings.seed}/${name}/${user}`);
  const think = new Think(settings.thinkTime === undefined ? workflow.thinkTime : settings.thinkTime, random);
  const okapi = new Okapi(settings.target);
  const library = { ...folder, ...found.library };
  const iterate = workflow.begin({
    ...found,
    library,
    lists,
    okapi,
    think,
    random,
    edge,
    settings,
    user,
    items: library.shelf && new Share(library.shelf, user, users),
    returns: library.returns && new Share(library.returns, user, users),
    unique: uniqueNames(user),
  });
  return { think, iterate };
}

/** Returns names that no other user, run or iteration uses. */
function uniqueNames(user) {
  let made = 0;
  return (what) => `${what} ${settings.run}-${user}-${++made}`;
}
