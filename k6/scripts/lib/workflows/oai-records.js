// SPDX-License-Identifier: Apache-2.0

import { CallError, quote } from '../answer.js';
import { getFromEdge } from '../edge.js';
import { transaction } from '../transaction.js';

// The performance team's page calls it /oai/records. A slash in a transaction's name would make
// it a part of another transaction.
const name = 'OAI records';

/**
 * A harvester reads all records page by page. Each page is a transaction. After the last page or
 * a failed page, it starts again.
 */
export const workflow = {
  transactions: [name],
  // The script waits for 0.4 to 0.7 s before the first page of a harvest, then for 0.2 to 0.5 s.
  thinkTime: 0.4,
  needs: ['edge'],
  begin({ okapi, think, edge }) {
    let token = '';
    return () => {
      think.pause(1);
      const query = token === '' ? { verb: 'ListRecords', metadataPrefix: 'marc21_withholdings', apikey: edge.key }
        : { verb: 'ListRecords', apikey: edge.key, resumptionToken: token };
      token = '';
      transaction(name, okapi, () => {
        token = harvest(okapi, edge, query);
      });
    };
  },
};

/** Reads a page of records. Returns the token of the next page, or an empty text. */
function harvest(okapi, edge, query) {
  const body = getFromEdge(okapi, edge.oaiPmh, ['/oai/records'], query, 'text/xml');
  const [, code, why] = /<error code="(\w+)"[^>]*>([^<]*)/.exec(body) || [];
  if (code) throw new CallError(`GET /oai/records answered ${code}: ${quote(why, 300)}`, 200);
  if (!body.includes('<ListRecords>')) throw new CallError('GET /oai/records answered without records', 200);
  const [, token = ''] = /<resumptionToken[^>]*>([^<]*)<\/resumptionToken>/.exec(body) || [];
  return plain(token.trim());
}

/** Decodes the XML entities that a token may contain. */
function plain(text) {
  return text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&amp;/g, '&');
}
