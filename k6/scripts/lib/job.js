// SPDX-License-Identifier: Apache-2.0

// The state of an import's job, as FOLIO's page shows it. The job of a split file is the parent
// of one job for every 1,000 records.

import { sleep } from 'k6';
import { CallError } from './okapi.js';

const executions = '/metadata-provider/jobExecutions';
const pageSize = 1000;

/** Polls a job until it ends or makes no progress for too long. */
export const follow = (okapi, jobId, settings) => followAll(okapi, [jobId], settings)[0];

/** Polls jobs until each has ended or makes no progress for too long. Returns their ends in order. */
export function followAll(okapi, jobIds, { flow, poll, stallTimeout, onProgress = () => {} }) {
  const jobs = jobIds.map((id) => ({ through: -1, moved: Date.now(), latest: { id } }));
  for (;;) {
    for (const job of jobs.filter(({ end }) => !end)) job.end = observe(okapi, job, flow, stallTimeout);
    onProgress(jobs.reduce((sum, { through }) => sum + Math.max(through, 0), 0));
    if (jobs.every(({ end }) => end)) return jobs.map(({ end }) => end);
    sleep(poll);
  }
}

/** Queries a job and records its progress. Returns its end, if it has one. */
function observe(okapi, job, flow, stallTimeout) {
  const seen = tryLook(okapi, job.latest.id, flow);
  if (seen.through > job.through) {
    job.through = seen.through;
    job.moved = Date.now();
  }
  if (seen.ended) return { job: seen.job, status: seen.job.status, seen: Date.now() };
  job.latest = seen.job || job.latest;
  if (Date.now() - job.moved < stallTimeout * 1000) return undefined;
  return { job: job.latest, status: 'STALLED', seen: Date.now(), through: Math.max(job.through, 0) };
}

/** Queries a job. A failed query does not end the import, because the next one may succeed. */
function tryLook(okapi, jobId, flow) {
  try {
    return look(okapi, jobId, flow === 'S3' ? { subordinationTypeNotAny: 'COMPOSITE_CHILD' } : {});
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.warn(`cannot see how job ${jobId} does: ${error.message}`);
    return { through: -1 };
  }
}

/** Finds a job among the running jobs and the ended jobs. */
function look(okapi, jobId, filter) {
  const running = okapi.getJson(executions, {
    statusNot: 'DISCARDED',
    uiStatusAny: ['PREPARING_FOR_PREVIEW', 'READY_FOR_PREVIEW', 'RUNNING'],
    ...filter,
    limit: 50,
    sortBy: 'completed_date,desc',
  });
  const ended = okapi.getJson(executions, {
    statusAny: ['COMMITTED', 'ERROR', 'CANCELLED'],
    ...filter,
    limit: 25,
    sortBy: 'completed_date,desc',
  });
  const find = ({ jobExecutions = [] }) => jobExecutions.find(({ id }) => id === jobId);
  const job = find(ended) || find(running);
  return { job, ended: find(ended) !== undefined, through: progress(job || {}) };
}

/**
 * Returns the number of records that a job has processed. For a parent, it is the sum over the
 * states of its children.
 */
function progress({ progress: own = {}, compositeDetails }) {
  if (!compositeDetails) return own.current || 0;
  let through = 0;
  for (const state of Object.keys(compositeDetails)) {
    const { currentlyProcessedCount = 0, totalRecordsCount = 0 } = compositeDetails[state] || {};
    through += state === 'committedState' ? totalRecordsCount : currentlyProcessedCount;
  }
  return through;
}

/**
 * Returns the results of a job: the number of imported records, errors and children, and the
 * states of the children that stopped.
 */
export function results(okapi, { job, status, through }) {
  const children = childrenOf(okapi, job);
  const sum = { imported: 0, errors: 0, children: children.length, stopped: {} };
  for (const child of children) {
    if (child.status !== 'COMMITTED') sum.stopped[child.status] = (sum.stopped[child.status] || 0) + 1;
  }
  if (status === 'STALLED') return { ...sum, imported: through };
  for (const part of children.length > 0 ? children : [job]) {
    const { imported, errors } = summary(okapi, part);
    sum.imported += imported;
    sum.errors += errors;
  }
  return sum;
}

/**
 * Returns the jobs into which a composite job was split. Other jobs have none. If a query fails,
 * it returns the jobs found so far.
 */
export function childrenOf(okapi, { id, subordinationType }) {
  if (subordinationType !== 'COMPOSITE_PARENT') return [];
  const found = [];
  try {
    for (let offset = 0; ; offset += pageSize) {
      const { jobExecutions = [] } = okapi.getJson(['/change-manager/jobExecutions/{}/children', id], { limit: pageSize, offset });
      found.push(...jobExecutions.filter((child) => child.id !== id));
      if (jobExecutions.length < pageSize) return found;
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.warn(`cannot see the children of job ${id}: ${error.message}`);
    return found;
  }
}

/** Returns the number of records that a job has imported, and the number of errors. */
function summary(okapi, job) {
  try {
    const { totalErrors = 0, sourceRecordSummary: source } = okapi.getJson(['/metadata-provider/jobSummary/{}', job.id]);
    if (source) return { imported: (source.totalCreatedEntities || 0) + (source.totalUpdatedEntities || 0), errors: totalErrors };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.warn(`no summary of job ${job.id}, its progress counts instead: ${error.message}`);
  }
  return { imported: (job.progress && job.progress.current) || 0, errors: 0 };
}
