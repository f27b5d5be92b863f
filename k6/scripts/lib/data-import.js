// SPDX-License-Identifier: Apache-2.0

import { sleep } from 'k6';
import { CallError } from './okapi.js';
import { need } from './need.js';

/** Seconds between making an upload definition and going on, as FOLIO's page takes. */
const settling = 3;
/** Seconds that one upload may take. */
const uploadTimeout = 600;

/** The id and name of a job profile, by its name. */
export function findJobProfile(okapi, name) {
  const { jobProfiles = [] } = okapi.getJson('/data-import-profiles/jobProfiles', { limit: 5000 });
  const profile = jobProfiles.find((candidate) => candidate.name === name);
  if (!profile) {
    const known = jobProfiles.map((candidate) => `"${candidate.name}"`).join(', ') || 'none';
    // As final as a refusal: a profile does not appear by waiting.
    throw new CallError(`there is no job profile "${name}"; it has ${known}`, 422);
  }
  return profile;
}

/** Announces a file. Returns its definition: ids of the upload, the file and the job. */
export function defineUpload(okapi, fileName) {
  unfinishedUploads(okapi);
  const upload = okapi.post('/data-import/uploadDefinitions', {
    fileDefinitions: [{ uiKey: `${fileName}${Date.now()}`, size: 1, name: fileName }],
  }, { expected: 201 });
  const [file] = need(upload.fileDefinitions, 'POST /data-import/uploadDefinitions', 'fileDefinitions');
  sleep(settling);
  unfinishedUploads(okapi);
  return { uploadId: upload.id, fileId: file.id, jobId: file.jobExecutionId };
}

function unfinishedUploads(okapi) {
  okapi.get('/data-import/uploadDefinitions', {
    query: '(status==("NEW" OR "IN_PROGRESS" OR "LOADED")) sortBy createdDate/sort.descending',
    limit: 1,
  });
}

/** Sends the file and has it processed. */
export function startImport(okapi, { uploadId, fileId }, body, jobProfile) {
  const uploadDefinition = okapi.call('POST', ['/data-import/uploadDefinitions/{}/files/{}', uploadId, fileId], {
    body, type: 'application/octet-stream', timeout: uploadTimeout, json: true,
  });
  okapi.get('/data-import/fileExtensions', { query: 'extension==".mrc"' });
  const { id, name } = findJobProfile(okapi, jobProfile);
  const { dataType } = okapi.getJson(['/data-import-profiles/jobProfiles/{}', id]);
  okapi.post(['/data-import/uploadDefinitions/{}/processFiles', uploadId], {
    uploadDefinition,
    jobProfileInfo: { id, name, dataType: dataType || 'MARC' },
  }, { query: { defaultMapping: false }, expected: 204 });
}

/**
 * Looks once, as FOLIO's page does, for a job among those that run and those
 * that ended. Returns the job if it has ended and how many records it is through.
 */
export function look(okapi, jobId) {
  const running = okapi.getJson('/metadata-provider/jobExecutions', {
    statusNot: 'DISCARDED',
    uiStatusAny: ['PREPARING_FOR_PREVIEW', 'READY_FOR_PREVIEW', 'RUNNING'],
    limit: 50,
    sortBy: 'completed_date,desc',
  });
  const ended = okapi.getJson('/metadata-provider/jobExecutions', {
    statusAny: ['COMMITTED', 'ERROR', 'CANCELLED'],
    limit: 25,
    sortBy: 'completed_date,desc',
  });
  const find = ({ jobExecutions = [] }) => jobExecutions.find(({ id }) => id === jobId);
  const job = find(ended);
  const seen = job || find(running);
  return { job, through: (seen && seen.progress && seen.progress.current) || 0 };
}

/** How many records a job that ended has imported, and how many errors it met. */
export function results(okapi, job) {
  try {
    const { totalErrors = 0, sourceRecordSummary: source } = okapi.getJson(['/metadata-provider/jobSummary/{}', job.id]);
    if (source) return { imported: (source.totalCreatedEntities || 0) + (source.totalUpdatedEntities || 0), errors: totalErrors };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    console.warn(`no summary of job ${job.id}, its progress counts instead: ${error.message}`);
  }
  return { imported: (job.progress && job.progress.current) || 0, errors: 0 };
}
