// SPDX-License-Identifier: Apache-2.0

import { exported } from './data-export.js';
import { need } from './need.js';
import { CallError } from './okapi.js';
import { elapsed } from './transaction.js';

const dataExport = '/data-export';

/** Returns a workflow that exports instances with a job profile, one export after the other. */
export function exportWith(name, profile, needs) {
  return {
    transactions: [name],
    // The script waits for 5 minutes between exports.
    thinkTime: 300,
    needs,
    begin({ okapi, random, catalogue, settings, unique }) {
      return () => {
        const from = Math.floor(random() * catalogue.instances.length);
        const ids = [...catalogue.instances.slice(from), ...catalogue.instances.slice(0, from)].slice(0, settings.exportRecords);
        elapsed(name, okapi, () => run(okapi, `${unique('export').replace(/\W+/g, '_')}.csv`, ids, profile, settings));
      };
    },
  };
}

/**
 * Makes all calls from the list of ids to the end of the job, as in the performance team's
 * script.
 */
function run(okapi, fileName, ids, profile, { poll, stallTimeout }) {
  const { id } = okapi.post(`${dataExport}/file-definitions`, { size: 1, fileName, uploadFormat: 'csv' }, { expected: 201 });
  const { jobExecutionId } = okapi.call('POST', [`${dataExport}/file-definitions/{}/upload`, need(id, `POST ${dataExport}/file-definitions`, 'an id')], {
    body: ids.join('\n'), type: 'application/octet-stream', json: true,
  });
  const { jobProfiles = [] } = okapi.getJson(`${dataExport}/job-profiles`, { limit: 100, query: '(cql.allRecords=1) sortby name' });
  const jobProfile = need(jobProfiles.find((one) => one.name === profile), `GET ${dataExport}/job-profiles`, `the profile "${profile}"`);
  okapi.post(`${dataExport}/export`, { fileDefinitionId: id, idType: 'instance', jobProfileId: jobProfile.id }, { expected: 204 });
  okapi.get(`${dataExport}/job-executions`, { query: 'status==IN_PROGRESS', limit: 50 });
  okapi.get(`${dataExport}/job-executions`, { query: 'status==(COMPLETED OR COMPLETED_WITH_ERRORS OR FAIL) sortBy completedDate/sort.descending', limit: 25 });
  const job = exported(okapi, need(jobExecutionId, `POST ${dataExport}/file-definitions/{}/upload`, 'jobExecutionId'), poll, stallTimeout);
  if (job.status !== 'COMPLETED') throw new CallError(`the export of ${ids.length} instances ended ${job.status}`, 200);
}
