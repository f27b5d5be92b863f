// SPDX-License-Identifier: Apache-2.0

// Data Import: one user who imports a generated MARC file again and again and
// waits for each import to end. README.md lists the environment variables.

import { sleep } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import { BibliographicFile, maxImports, maxRecords } from './lib/bibliography.js';
import { defineUpload, findJobProfile, look, results, startImport } from './lib/data-import.js';
import { CallError, Okapi } from './lib/okapi.js';
import { patiently } from './lib/patience.js';
import { number, target, text, whole } from './lib/settings.js';
import { record } from './lib/transaction.js';

const settings = {
  target: target(),
  kind: `${text('OPERATION', 'Create')} ${text('RECORD_TYPE', 'Bibliographic')}`,
  jobProfile: text('JOB_PROFILE'),
  records: whole('RECORDS', undefined, 1, maxRecords),
  imports: whole('IMPORTS', 1, 1, maxImports),
  pause: number('PAUSE_SECONDS', 0),
  poll: number('POLL_SECONDS', 5, 0.1),
  stallTimeout: number('STALL_TIMEOUT_SECONDS', 1800, 1),
  seed: text('SEED', '1'),
  run: text('PERFLAB_RUN', 'by-hand'),
  load: text('PERFLAB_LOAD', 'import'),
};
if (settings.kind !== 'Create Bibliographic') {
  throw new Error(`this script can create bibliographic records; it was told to ${settings.kind}`);
}

// The only bounds of an import are its own progress and the operator's deadline.
export const options = {
  scenarios: { imports: { executor: 'per-vu-iterations', vus: 1, iterations: settings.imports, maxDuration: '240h', gracefulStop: '0s' } },
  setupTimeout: '60s',
};

const imports = new Counter('perflab_imports');
const importsFailed = new Counter('perflab_imports_failed');
const records = new Counter('perflab_records');
const recordsFailed = new Counter('perflab_records_failed');

export function setup() {
  const okapi = new Okapi(settings.target);
  patiently('cannot log in', okapi, () => okapi.login());
  patiently('cannot import', okapi, () => findJobProfile(okapi, settings.jobProfile));
}

let okapi;
let file;
let succeeded = 0;

export default function () {
  const n = exec.vu.iterationInScenario + 1;
  if (!file) {
    okapi = new Okapi(settings.target);
    file = new BibliographicFile(settings.seed, settings.run, settings.records);
  }
  importOnce(n);
  if (n < settings.imports) {
    sleep(settings.pause);
  } else if (succeeded === 0) {
    exec.test.fail(`none of ${settings.imports} imports succeeded`);
  }
}

/** One import, from the announcement of the file to what became of its records. */
function importOnce(n) {
  let started;
  let outcome = { imported: 0, errors: 0, status: '' };
  try {
    const upload = defineUpload(okapi, `${settings.load}_${n}.mrc`.replace(/-/g, '_'));
    const body = file.forImport(n);
    started = Date.now();
    startImport(okapi, upload, body, settings.jobProfile);
    outcome = waitFor(upload.jobId);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.error(`import ${n} of ${settings.imports} failed: ${error.message}`);
  }
  const { seen = Date.now() } = outcome;
  count(n, outcome, started === undefined ? 0 : seen - started);
  if (outcome.status === 'STALLED') {
    exec.test.abort(`import ${n} of ${settings.imports} stalled: no progress in ${settings.stallTimeout} s after ${outcome.imported} of ${settings.records} records`);
  }
}

/** Waits until the job ends, or has made no progress for too long. */
function waitFor(jobId) {
  let through = -1;
  let moved = Date.now();
  for (;;) {
    const seen = tryLook(jobId);
    if (seen.job) return ended(seen.job);
    if (seen.through > through) {
      through = seen.through;
      moved = Date.now();
    }
    if (Date.now() - moved >= settings.stallTimeout * 1000) {
      return { imported: Math.max(through, 0), errors: 0, status: 'STALLED' };
    }
    sleep(settings.poll);
  }
}

/** A look that fails is not the end of an import: the next one may tell. */
function tryLook(jobId) {
  try {
    return look(okapi, jobId);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.warn(`cannot see how job ${jobId} does: ${error.message}`);
    return { through: -1 };
  }
}

function ended(job) {
  const seen = Date.now();
  const took = Date.parse(job.completedDate) - Date.parse(job.startedDate);
  return { ...results(okapi, job), status: job.status, seen, took };
}

/** An import is good only if all of its records are in. */
function count(n, { imported, errors, status, took }, elapsed) {
  const failed = Math.max(settings.records - imported, errors);
  const outcome = status === 'COMMITTED' && failed === 0 ? 'ok' : 'error';
  imports.add(1);
  records.add(imported);
  recordsFailed.add(failed);
  record('Import', elapsed, outcome);
  if (took >= 0) record('Import job', took, outcome);
  if (outcome === 'ok') {
    succeeded++;
    return;
  }
  importsFailed.add(1);
  if (status) console.error(`import ${n} of ${settings.imports} ended ${status}: ${imported} of ${settings.records} records imported, ${failed} failed`);
}
