// SPDX-License-Identifier: Apache-2.0

// Exports instances as MARC, as FOLIO's page for data export does: it uploads a list of ids, a
// job writes them to a file, and the file is downloaded from the storage.

import { sleep } from 'k6';
import { CallError } from './okapi.js';
import { need } from './need.js';
import { childrenOf } from './job.js';
import { FetchedFile } from './import-files.js';
import { fetchObject } from './storage.js';

const dataExport = '/data-export';
/**
 * The name of both profiles of the export. The mapping adds HRIDs of holdings (901) and items
 * (902).
 */
export const profileName = 'PerfLab - Instances with HRIDs of holdings and items';
const pageSize = 1000;
/** The time limit for fetching an exported file, in seconds. */
const fetchTimeout = 600;

/** Returns the id of the export's job profile, and creates the profile if it does not exist. */
export function requireExportProfile(okapi) {
  const [known] = named(okapi, 'job-profiles', 'jobProfiles');
  if (known) return known.id;
  const [mapping] = named(okapi, 'mapping-profiles', 'mappingProfiles');
  const mappingProfileId = mapping ? mapping.id : make(okapi, 'mapping-profiles', {
    name: profileName,
    recordTypes: ['SRS', 'HOLDINGS', 'ITEM'],
    outputFormat: 'MARC',
    transformations: [
      { fieldId: 'holdings.hrid', path: '$.holdings[*].hrid', recordType: 'HOLDINGS', transformation: '901  $a', enabled: true },
      { fieldId: 'item.hrid', path: '$.holdings[*].items[*].hrid', recordType: 'ITEM', transformation: '902  $a', enabled: true },
    ],
  });
  return make(okapi, 'job-profiles', { name: profileName, mappingProfileId, description: 'Made by PerfLab' });
}

function named(okapi, path, key) {
  return okapi.getJson(`${dataExport}/${path}`, { query: `name=="${profileName}"`, limit: 1 })[key] || [];
}

function make(okapi, path, profile) {
  return need(okapi.post(`${dataExport}/${path}`, profile, { expected: 201 }).id, `POST ${dataExport}/${path}`, 'an id');
}

/** Returns the ids of the instances that an import created. */
export function importedInstances(okapi, job) {
  const children = childrenOf(okapi, job);
  const ids = [];
  for (const { id } of children.length > 0 ? children : [job]) {
    for (let offset = 0; ; offset += pageSize) {
      const { entries = [] } = okapi.getJson(['/metadata-provider/jobLogEntries/{}', id], { limit: pageSize, offset });
      for (const { relatedInstanceInfo: { idList = [] } = {} } of entries) ids.push(...idList);
      if (entries.length < pageSize) break;
    }
  }
  return ids;
}

/** Exports instances and waits for the file. Returns the ids of the job and the file. */
export function exportInstances(okapi, fileName, ids, jobProfileId, { poll, stallTimeout }) {
  const definition = okapi.post(`${dataExport}/file-definitions`, { fileName, uploadFormat: 'csv', size: Math.ceil((ids.length * 37) / 1024) }, { expected: 201 });
  const { jobExecutionId } = okapi.call('POST', [`${dataExport}/file-definitions/{}/upload`, definition.id], {
    body: ids.join('\n'), type: 'application/octet-stream', json: true, timeout: fetchTimeout,
  });
  okapi.post(`${dataExport}/export`, { fileDefinitionId: definition.id, jobProfileId, idType: 'instance' }, { expected: 204 });
  const job = exported(okapi, need(jobExecutionId, `POST ${dataExport}/file-definitions/{}/upload`, 'jobExecutionId'), poll, stallTimeout);
  const [file] = job.exportedFiles || [];
  if (job.status !== 'COMPLETED' || !file) throw new CallError(`the export of ${ids.length} instances ended ${job.status}`, 200);
  return { jobId: job.id, fileId: file.fileId };
}

/** Polls an export until it ends. Returns its job. */
export function exported(okapi, id, poll, stallTimeout) {
  let through = -1;
  let moved = Date.now();
  for (;;) {
    const { jobExecutions: [job] = [] } = okapi.getJson(`${dataExport}/job-executions`, { query: `id==${id}`, limit: 1 });
    if (job && ['COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAIL'].includes(job.status)) return job;
    const { exported: done = 0 } = (job && job.progress) || {};
    if (done > through) {
      through = done;
      moved = Date.now();
    }
    if (Date.now() - moved >= stallTimeout * 1000) throw new CallError(`the export made no progress in ${stallTimeout} s after ${through} instances`, 200);
    sleep(poll);
  }
}

/** Fetches an exported file from the storage. */
export function fetchExport(okapi, { jobId, fileId }, records) {
  const { link } = okapi.getJson([`${dataExport}/job-executions/{}/download/{}`, jobId, fileId]);
  return new FetchedFile(fetchObject(okapi, need(link, `GET ${dataExport}/job-executions/{}/download/{}`, 'a link'), fetchTimeout), records);
}
