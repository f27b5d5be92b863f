// SPDX-License-Identifier: Apache-2.0

// Data Import: one user who imports MARC files, one after another or several at a
// time, and waits for them to end. README.md lists the environment variables.

import { sleep } from 'k6';
import exec from 'k6/execution';
import { Counter, Gauge } from 'k6/metrics';
import { exportInstances, fetchExport, importedInstances, requireExportProfile } from './lib/data-export.js';
import { defineUpload, splits, startImport } from './lib/data-import.js';
import { findCopies, generated, maxImports, maxRecords } from './lib/import-files.js';
import { follow, followAll, results } from './lib/job.js';
import { requireJobProfile } from './lib/job-profiles.js';
import { CallError, Okapi } from './lib/okapi.js';
import { patiently } from './lib/patience.js';
import { number, oneOf, target, text, whole } from './lib/settings.js';
import { record } from './lib/transaction.js';

/** The most imports at a time: FOLIO's page lists the last 25 jobs that ended. */
const maxParallel = 20;

/** The numbers of PERFLAB_LEVELS, and whether PARALLEL is set. */
const levels = text('PERFLAB_LEVELS', '') === '' ? [] : text('PERFLAB_LEVELS', '').split(',');
const isParallel = text('PARALLEL', '') !== '';

const settings = {
  target: target(),
  recordType: oneOf('RECORD_TYPE', ['Bibliographic', 'Holdings', 'Authority']),
  operation: oneOf('OPERATION', ['Create', 'Update']),
  flow: oneOf('FLOW', ['Upload', 'S3']),
  jobProfile: text('JOB_PROFILE'),
  createJobProfile: text('CREATE_JOB_PROFILE', 'PTF - Create 2'),
  batches: batches(),
  pause: number('PAUSE_SECONDS', 0),
  poll: number('POLL_SECONDS', 5, 0.1),
  stallTimeout: number('STALL_TIMEOUT_SECONDS', 1800, 1),
  failures: oneOf('PERFLAB_FAILURES', ['Errors', 'Results']),
  seed: text('SEED', '1'),
  run: text('PERFLAB_RUN', 'by-hand'),
  load: text('PERFLAB_LOAD', 'import'),
};

/** The number of records of each import. */
settings.sizes = settings.batches.flatMap(({ imports, records }) => new Array(imports).fill(records));
settings.imports = settings.sizes.length;
settings.records = Math.max(...settings.sizes);
const updates = settings.operation === 'Update';
if (updates && settings.recordType !== 'Bibliographic') {
  throw new Error(`environment variable OPERATION is "Update", which RECORD_TYPE "${settings.recordType}" cannot be: only Bibliographic records are updated`);
}

/**
 * The imports that start together: how many, and the records of each. PERFLAB_LEVELS has the number
 * of records of one import after another, or with PARALLEL the number of imports at a time.
 */
function batches() {
  const parallel = whole('PARALLEL', 1, 1, maxParallel);
  if (levels.length > 0 && !isParallel) return levels.map((level) => ({ imports: 1, records: wholeLevel(level, maxRecords) }));
  const records = whole('RECORDS', undefined, 1, maxRecords);
  if (levels.length > 0) return levels.map((level) => ({ imports: wholeLevel(level, maxParallel), records }));
  const imports = whole('IMPORTS', 1, 1, maxImports);
  return Array.from({ length: Math.ceil(imports / parallel) }, (_, i) => ({ imports: Math.min(parallel, imports - i * parallel), records }));
}

function wholeLevel(level, most) {
  const found = Number(level);
  if (!Number.isInteger(found) || found < 1 || found > most) throw new Error(`environment variable PERFLAB_LEVELS has "${level}", not a whole number from 1 to ${most}`);
  return found;
}

/** The settings of import number n. */
const sized = (n) => ({ ...settings, records: settings.sizes[n - 1] });

// An import is limited only by its own progress and the operator's deadline. setup creates and
// exports the records that updates need.
export const options = {
  scenarios: { imports: { executor: 'per-vu-iterations', vus: 1, iterations: settings.batches.length, maxDuration: '240h', gracefulStop: '0s' } },
  setupTimeout: updates ? '240h' : '60s',
};

/**
 * The number of batches of a series that are also recorded individually. The payload has 256
 * rows.
 */
const batchesApart = 100;

const counters = {
  imports: new Counter('perflab_imports'),
  importsFailed: new Counter('perflab_imports_failed'),
  records: new Counter('perflab_records'),
  recordsFailed: new Counter('perflab_records_failed'),
  children: new Counter('perflab_child_jobs'),
  childrenFailed: new Counter('perflab_child_jobs_failed'),
};
const recordsDone = new Gauge('perflab_records_done');

/** Finds or creates what the load needs: job profiles, targets of holdings, records to update. */
export function setup() {
  const okapi = new Okapi(settings.target);
  patiently('cannot log in', okapi, () => okapi.login());
  const found = patiently('cannot import', okapi, () => {
    if (settings.flow === 'S3' && !splits(okapi)) {
      throw new CallError('GET /data-import/splitStatus says false: FLOW S3 needs SPLIT_FILES_ENABLED=true in mod-data-import', 422);
    }
    requireJobProfile(okapi, settings.jobProfile, settings);
    if (settings.recordType === 'Holdings') return { copies: findCopies(okapi, settings.records) };
    if (!updates) return {};
    requireJobProfile(okapi, settings.createJobProfile, { ...settings, operation: 'Create' });
    return { exportProfile: requireExportProfile(okapi) };
  });
  return updates ? { exports: makeUpdates(okapi, found.exportProfile) } : found;
}

/**
 * Creates and exports the records for each update. If a step fails, there is nothing to measure,
 * and the test ends.
 */
function makeUpdates(okapi, exportProfile) {
  return Array.from({ length: settings.imports }, (_, i) => {
    const n = i + 1;
    const began = Date.now();
    try {
      const upload = defineUpload(okapi, settings.flow, fileName(n, 'create'));
      startImport(okapi, settings.flow, upload, generated(sized(n), n), settings.createJobProfile);
      const end = follow(okapi, upload.jobId, settings);
      const { imported } = results(okapi, end);
      if (end.status !== 'COMMITTED' || imported !== sized(n).records) {
        throw new CallError(`the import that creates what to update ended ${end.status} with ${imported} of ${sized(n).records} records`, 200);
      }
      const created = Date.now();
      const file = exportInstances(okapi, fileName(n, 'export').replace('.mrc', '.csv'), importedInstances(okapi, end.job), exportProfile, sized(n));
      console.info(`update ${n} of ${settings.imports}: ${sized(n).records} records created in ${seconds(created - began)} s and exported in ${seconds(Date.now() - created)} s`);
      return file;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return exec.test.abort(`cannot make what update ${n} of ${settings.imports} needs: ${error.message}`);
    }
  });
}

let okapi;
let done = 0;
let succeeded = 0;

export default function (found) {
  const batch = exec.vu.iterationInScenario + 1;
  okapi = okapi || new Okapi(settings.target);
  importBatch(batch, found);
  if (batch < settings.batches.length) {
    sleep(settings.pause);
  } else if (succeeded === 0 && settings.failures === 'Errors') {
    exec.test.fail(`none of ${settings.imports} imports succeeded`);
  }
}

/** Makes the imports that start together, from their upload definitions to the results of their records. */
function importBatch(batch, found) {
  const before = settings.batches.slice(0, batch - 1).reduce((sum, { imports }) => sum + imports, 0);
  const all = Array.from({ length: settings.batches[batch - 1].imports }, (_, i) => ({
    n: before + i + 1, started: undefined, end: { status: '' }, outcome: { imported: 0, errors: 0, children: 0, stopped: {} },
  }));
  const defined = all.filter((one) => succeeds(one, () => {
    one.upload = defineUpload(okapi, settings.flow, fileName(one.n));
    one.file = fileOf(one.n, found);
  }));
  measured(() => {
    const running = defined.filter((one) => succeeds(one, () => {
      one.started = Date.now();
      startImport(okapi, settings.flow, one.upload, one.file, settings.jobProfile);
    }));
    const ends = followAll(okapi, running.map(({ upload }) => upload.jobId), { ...settings, onProgress: (through) => recordsDone.add(done + through) });
    running.forEach((one, i) => { one.end = ends[i]; });
  });
  for (const one of defined.filter(({ end }) => end.job)) succeeds(one, () => { one.outcome = results(okapi, one.end); });
  for (const one of all) count(batch, one);
  if (isParallel) recordBatch(batch, all);
  for (const one of all) reportStall(one);
}

/** Reports whether a step of an import succeeds; logs why it does not. */
function succeeds({ n }, step) {
  try {
    step();
    return true;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.error(`import ${n} of ${settings.imports} failed: ${error.message}`);
    return false;
  }
}

function reportStall({ n, end, outcome }) {
  if (end.status !== 'STALLED') return;
  const message = `import ${n} of ${settings.imports} stalled: no progress in ${settings.stallTimeout} s after ${outcome.imported} of ${sized(n).records} records${stopped(outcome)}`;
  if (settings.failures === 'Errors') exec.test.abort(message);
  console.error(message);
}

/**
 * Returns the file to send. Files for the gateway are generated completely before the
 * measurement.
 */
function fileOf(n, { exports, copies }) {
  if (exports) return fetchExport(okapi, exports[n - 1], sized(n).records);
  const file = generated(sized(n), n, copies);
  if (settings.flow === 'S3') return file;
  const body = file.rest();
  return { rest: () => body };
}

/** Makes calls whose requests belong to the transaction Import. */
function measured(calls) {
  okapi.transaction = 'Import';
  try {
    return calls();
  } finally {
    okapi.transaction = '';
  }
}

/** An import succeeds only if all its records were imported and none of its jobs stopped. */
function count(batch, one) {
  const { n, started, end, outcome } = one;
  const { status, job = {} } = end;
  const { imported, errors, children } = outcome;
  const failed = Math.max(sized(n).records - imported, errors);
  const childrenFailed = Object.values(outcome.stopped).reduce((a, b) => a + b, 0);
  one.result = status === 'COMMITTED' && failed === 0 && childrenFailed === 0 ? 'ok' : 'error';
  done += imported;
  recordsDone.add(done);
  counters.imports.add(1);
  counters.records.add(imported);
  counters.recordsFailed.add(failed);
  counters.children.add(children);
  counters.childrenFailed.add(childrenFailed);
  record('Import', started === undefined ? 0 : (end.seen || Date.now()) - started, one.result);
  recordJob('Import job', batch, Date.parse(job.completedDate) - Date.parse(job.startedDate), one.result,
    settings.batches.length > 1 && batch <= batchesApart);
  if (one.result === 'ok') {
    succeeded++;
    return;
  }
  counters.importsFailed.add(1);
  if (status) console.error(`import ${n} of ${settings.imports} ended ${status}: ${imported} of ${sized(n).records} records imported, ${failed} failed${stopped(outcome)}`);
}

/** Records the time from the start of the first job of a batch to the end of the last one. */
function recordBatch(batch, all) {
  const jobs = all.map(({ end }) => end.job || {});
  const took = Math.max(...jobs.map(({ completedDate }) => Date.parse(completedDate))) - Math.min(...jobs.map(({ startedDate }) => Date.parse(startedDate)));
  recordJob('Import batch', batch, took, all.every(({ result }) => result === 'ok') ? 'ok' : 'error', levels.length > 0);
}

/** Records a time by the clock of the jobs, if it is known. In some cases it is recorded for the batch, too. */
function recordJob(transaction, batch, took, result, apart) {
  if (!(took >= 0)) return;
  record(transaction, took, result);
  if (apart) record(`${transaction} ${batch}`, took, result);
}

/** Returns a clause about the jobs of parts of the file that stopped early. */
function stopped({ children, stopped: by }) {
  const states = Object.keys(by).sort();
  if (states.length === 0) return '';
  const sum = states.reduce((a, state) => a + by[state], 0);
  return `; ${sum} of ${children} jobs of its parts did not end COMMITTED (${states.map((state) => `${by[state]} ${state}`).join(', ')})`;
}

/** FOLIO's page and its performance team's scripts use no hyphens in file names. */
function fileName(n, stage) {
  return `${settings.load}_${stage ? `${stage}_` : ''}${n}.mrc`.replace(/-/g, '_');
}

const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1);
