// SPDX-License-Identifier: Apache-2.0

// Data Import: one user who imports a MARC file repeatedly and waits for each
// import to end. README.md lists the environment variables.

import { sleep } from 'k6';
import exec from 'k6/execution';
import { Counter, Gauge } from 'k6/metrics';
import { exportInstances, fetchExport, importedInstances, requireExportProfile } from './lib/data-export.js';
import { defineUpload, splits, startImport } from './lib/data-import.js';
import { findCopies, generated, maxImports, maxRecords } from './lib/import-files.js';
import { follow, results } from './lib/job.js';
import { requireJobProfile } from './lib/job-profiles.js';
import { CallError, Okapi } from './lib/okapi.js';
import { patiently } from './lib/patience.js';
import { number, oneOf, target, text, whole } from './lib/settings.js';
import { record } from './lib/transaction.js';

const settings = {
  target: target(),
  recordType: oneOf('RECORD_TYPE', ['Bibliographic', 'Holdings', 'Authority']),
  operation: oneOf('OPERATION', ['Create', 'Update']),
  flow: oneOf('FLOW', ['Upload', 'S3']),
  jobProfile: text('JOB_PROFILE'),
  createJobProfile: text('CREATE_JOB_PROFILE', 'PTF - Create 2'),
  sizes: sizes(),
  pause: number('PAUSE_SECONDS', 0),
  poll: number('POLL_SECONDS', 5, 0.1),
  stallTimeout: number('STALL_TIMEOUT_SECONDS', 1800, 1),
  failures: oneOf('PERFLAB_FAILURES', ['Errors', 'Results']),
  seed: text('SEED', '1'),
  run: text('PERFLAB_RUN', 'by-hand'),
  load: text('PERFLAB_LOAD', 'import'),
};
settings.imports = settings.sizes.length;
settings.records = Math.max(...settings.sizes);
const updates = settings.operation === 'Update';
if (updates && settings.recordType !== 'Bibliographic') {
  throw new Error(`environment variable OPERATION is "Update", which RECORD_TYPE "${settings.recordType}" cannot be: only Bibliographic records are updated`);
}

/** The number of records of each import: the same for all, or those of PERFLAB_LEVELS. */
function sizes() {
  const levels = text('PERFLAB_LEVELS', '');
  if (levels === '') return new Array(whole('IMPORTS', 1, 1, maxImports)).fill(whole('RECORDS', undefined, 1, maxRecords));
  return levels.split(',').map((level) => {
    const records = Number(level);
    if (!Number.isInteger(records) || records < 1 || records > maxRecords) throw new Error(`environment variable PERFLAB_LEVELS has "${level}", not a whole number from 1 to ${maxRecords}`);
    return records;
  });
}

/** The settings of import number n. */
const sized = (n) => ({ ...settings, records: settings.sizes[n - 1] });

// An import is limited only by its own progress and the operator's deadline. setup creates and
// exports the records that updates need.
export const options = {
  scenarios: { imports: { executor: 'per-vu-iterations', vus: 1, iterations: settings.imports, maxDuration: '240h', gracefulStop: '0s' } },
  setupTimeout: updates ? '240h' : '60s',
};

/**
 * The number of imports of a series that are also recorded individually. The payload has 256
 * rows.
 */
const importsApart = 100;

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
  const n = exec.vu.iterationInScenario + 1;
  okapi = okapi || new Okapi(settings.target);
  importOnce(n, found);
  if (n < settings.imports) {
    sleep(settings.pause);
  } else if (succeeded === 0 && settings.failures === 'Errors') {
    exec.test.fail(`none of ${settings.imports} imports succeeded`);
  }
}

/** Makes one import, from the upload definition to the results of its records. */
function importOnce(n, found) {
  let started;
  let end = { status: '' };
  let outcome = { imported: 0, errors: 0, children: 0, stopped: {} };
  try {
    const upload = defineUpload(okapi, settings.flow, fileName(n));
    const file = fileOf(n, found);
    started = Date.now();
    end = measured(() => {
      startImport(okapi, settings.flow, upload, file, settings.jobProfile);
      return follow(okapi, upload.jobId, { ...settings, onProgress: (through) => recordsDone.add(done + through) });
    });
    outcome = results(okapi, end);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.error(`import ${n} of ${settings.imports} failed: ${error.message}`);
  }
  count(n, end, outcome, started === undefined ? 0 : (end.seen || Date.now()) - started);
  if (end.status === 'STALLED') {
    const message = `import ${n} of ${settings.imports} stalled: no progress in ${settings.stallTimeout} s after ${outcome.imported} of ${sized(n).records} records${stopped(outcome)}`;
    if (settings.failures === 'Errors') exec.test.abort(message);
    console.error(message);
  }
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

/**
 * Records an import. It succeeds only if all its records were imported and none of its jobs
 * stopped.
 */
function count(n, { status, job = {} }, outcome, elapsed) {
  const { imported, errors, children } = outcome;
  const failed = Math.max(sized(n).records - imported, errors);
  const childrenFailed = Object.values(outcome.stopped).reduce((a, b) => a + b, 0);
  const result = status === 'COMMITTED' && failed === 0 && childrenFailed === 0 ? 'ok' : 'error';
  done += imported;
  recordsDone.add(done);
  counters.imports.add(1);
  counters.records.add(imported);
  counters.recordsFailed.add(failed);
  counters.children.add(children);
  counters.childrenFailed.add(childrenFailed);
  record('Import', elapsed, result);
  const took = Date.parse(job.completedDate) - Date.parse(job.startedDate);
  if (took >= 0) {
    record('Import job', took, result);
    if (settings.imports > 1 && n <= importsApart) record(`Import job ${n}`, took, result);
  }
  if (result === 'ok') {
    succeeded++;
    return;
  }
  counters.importsFailed.add(1);
  if (status) console.error(`import ${n} of ${settings.imports} ended ${status}: ${imported} of ${sized(n).records} records imported, ${failed} failed${stopped(outcome)}`);
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
