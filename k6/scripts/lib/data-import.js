// SPDX-License-Identifier: Apache-2.0

// The steps of FOLIO's page for an import: it defines the upload, sends the file (through the
// gateway, or in parts to the storage), and starts its processing.

import { sleep } from 'k6';
import { need } from './need.js';
import { getJobProfile, snapshotJobProfile } from './job-profiles.js';
import { sendToStorage } from './storage.js';

/** Seconds between an upload definition and the next step, as in FOLIO's page. */
const settling = 3;
/** The time limit of one upload, in seconds. */
const uploadTimeout = 600;

/** Returns whether the system expects files in its storage, to split them. */
export function splits(okapi) {
  return okapi.getJson('/data-import/splitStatus').splitStatus === true;
}

/** Announces a file. Returns its definition: ids of the upload, the file and the job. */
export function defineUpload(okapi, flow, fileName) {
  if (flow === 'S3') splits(okapi);
  else unfinishedUploads(okapi);
  const upload = okapi.post('/data-import/uploadDefinitions', {
    fileDefinitions: [{ uiKey: `${fileName}${Date.now()}`, size: 1, name: fileName }],
  }, { expected: 201 });
  const [file] = need(upload.fileDefinitions, 'POST /data-import/uploadDefinitions', 'fileDefinitions');
  sleep(settling);
  if (flow !== 'S3') unfinishedUploads(okapi);
  return { uploadId: upload.id, fileId: file.id, jobId: file.jobExecutionId, fileName };
}

function unfinishedUploads(okapi) {
  okapi.get('/data-import/uploadDefinitions', {
    query: '(status==("NEW" OR "IN_PROGRESS" OR "LOADED")) sortBy createdDate/sort.descending',
    limit: 1,
  });
}

/** Sends a file and starts its processing. */
export function startImport(okapi, flow, upload, file, profileName) {
  const start = flow === 'S3' ? throughStorage : throughGateway;
  const { uploadDefinition, profile } = start(okapi, upload, file, profileName);
  okapi.post(['/data-import/uploadDefinitions/{}/processFiles', upload.uploadId], {
    uploadDefinition,
    jobProfileInfo: { id: profile.id, name: profile.name, dataType: profile.dataType || 'MARC' },
  }, { query: { defaultMapping: false }, expected: 204 });
}

function throughGateway(okapi, { uploadId, fileId }, file, profileName) {
  const uploadDefinition = okapi.call('POST', ['/data-import/uploadDefinitions/{}/files/{}', uploadId, fileId], {
    body: file.rest(), type: 'application/octet-stream', timeout: uploadTimeout, json: true,
  });
  okapi.get('/data-import/fileExtensions', { query: 'extension==".mrc"' });
  return { uploadDefinition, profile: getJobProfile(okapi, profileName) };
}

function throughStorage(okapi, upload, file, profileName) {
  sendToStorage(okapi, upload, file, uploadTimeout);
  const profile = getJobProfile(okapi, profileName);
  snapshotJobProfile(okapi, profile.id);
  return { uploadDefinition: okapi.getJson(['/data-import/uploadDefinitions/{}', upload.uploadId]), profile };
}
