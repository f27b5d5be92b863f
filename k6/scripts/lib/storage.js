// SPDX-License-Identifier: Apache-2.0

// Files for the storage that splits them: parts go straight to presigned URLs
// of an S3 server, which knows nothing of FOLIO.

import http from 'k6/http';
import { CallError } from './okapi.js';
import { need } from './need.js';
import { whole } from './settings.js';

/** Bytes of a part, FOLIO's page's own 30 MiB; S3 takes none below 5 MiB but the last. */
const partBytes = whole('PART_MEBIBYTES', 30, 5, 5120) << 20;

/** Sends a file part by part; each is let go of before the next is made. */
export function sendToStorage(okapi, { uploadId: definitionId, fileId, fileName }, file, timeout) {
  const { url, key, uploadId } = okapi.getJson('/data-import/uploadUrl', { filename: fileName });
  const tags = [put(need(url, 'GET /data-import/uploadUrl', 'url'), file.next(partBytes), timeout)];
  for (let part = file.next(partBytes); part; part = file.next(partBytes)) {
    const next = okapi.getJson('/data-import/uploadUrl/subsequent', { key, uploadId, partNumber: tags.length + 1 });
    tags.push(put(next.url, part, timeout));
  }
  okapi.post(['/data-import/uploadDefinitions/{}/files/{}/assembleStorageFile', definitionId, fileId],
    { uploadId, key, tags }, { expected: 204 });
}

/** PUTs a part and returns its ETag, quotation marks included. */
function put(url, part, timeout) {
  const name = 'PUT /{bucket}/{key}';
  const answer = http.put(url, part, { tags: { name }, timeout: timeout * 1000, responseType: 'text' });
  const where = url.split('?')[0];
  if (answer.status === 0) {
    throw new CallError(`${name} failed: ${answer.error}; runners must reach the storage under the host it names, ${where}`, 0);
  }
  if (answer.status !== 200) throw new CallError(`PUT ${where} answered ${answer.status} instead of 200: ${String(answer.body).slice(0, 300)}`, answer.status);
  return need(answer.headers.Etag || answer.headers.ETag, name, 'the header ETag');
}
