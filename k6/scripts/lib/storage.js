// SPDX-License-Identifier: Apache-2.0

// The storage behind a system is an S3 server, which is called with presigned URLs. It is
// independent of FOLIO and gets none of FOLIO's headers and cookies.

import http from 'k6/http';
import { quote } from './answer.js';
import { CallError } from './okapi.js';
import { need } from './need.js';
import { whole } from './settings.js';

/**
 * The size of a part in bytes. FOLIO's page uses 30 MiB. S3 requires at least 5 MiB, except for
 * the last part.
 */
const partBytes = whole('PART_MEBIBYTES', 30, 5, 5120) << 20;

/** Sends a file part by part, and releases each part before it creates the next. */
export function sendToStorage(okapi, { uploadId: definitionId, fileId, fileName }, file, timeout) {
  const { url, key, uploadId } = okapi.getJson('/data-import/uploadUrl', { filename: fileName });
  const tags = [put(okapi, need(url, 'GET /data-import/uploadUrl', 'url'), file.next(partBytes), timeout)];
  for (let part = file.next(partBytes); part; part = file.next(partBytes)) {
    const next = okapi.getJson('/data-import/uploadUrl/subsequent', { key, uploadId, partNumber: tags.length + 1 });
    tags.push(put(okapi, need(next.url, 'GET /data-import/uploadUrl/subsequent', 'url'), part, timeout));
  }
  okapi.post(['/data-import/uploadDefinitions/{}/files/{}/assembleStorageFile', definitionId, fileId],
    { uploadId, key, tags }, { expected: 204 });
}

/** PUTs a part and returns its ETag, including quotation marks. */
function put(okapi, url, body, timeout) {
  const answer = atStorage(okapi, 'PUT', url, { body, timeout, responseType: 'text' });
  return need(answer.headers.Etag || answer.headers.ETag, 'PUT /{bucket}/{key}', 'the header ETag');
}

/** Fetches an object as an ArrayBuffer. */
export function fetchObject(okapi, url, timeout) {
  return atStorage(okapi, 'GET', url, { timeout, responseType: 'binary' }).body;
}

function atStorage(okapi, method, url, more) {
  const where = `${method} ${url.split('?')[0]}`;
  const { transaction } = okapi;
  const answer = okapi.send({ method, url, name: `${method} /{bucket}/{key}`, transaction, headers: {}, jar: new http.CookieJar(), ...more });
  if (answer.status === 0) {
    throw new CallError(`${where} failed: ${answer.error}; runners must reach the storage under the host that its URLs name`, 0);
  }
  // An object may be large, and its errors are not in JSON. Only the first 300 characters are
  // quoted.
  const why = typeof answer.body === 'string' ? `: ${quote(answer.body, 300)}` : '';
  if (answer.status !== 200) throw new CallError(`${where} answered ${answer.status} instead of 200${why}`, answer.status);
  return answer;
}
