// SPDX-License-Identifier: Apache-2.0

// Searches of the catalog, as in the performance team's script. Each workflow is a list of
// queries with new random words each time.

import { show } from './pages.js';
import { choose } from './random.js';
import { transaction } from './transaction.js';

const languages = ['eng', 'ita', 'ukr'];
/**
 * Seconds between searches: the think time of check-in and check-out, because the script's is
 * unknown.
 */
const thinkTime = 4;

/**
 * Returns a workflow of searches. queries returns the list of queries for given words and a
 * language.
 */
export function search(name, path, queries) {
  return {
    transactions: [name],
    thinkTime,
    needs: ['catalogue'],
    begin({ okapi, think, random, catalogue }) {
      const word = () => choose(random, catalogue.words);
      const phrase = (length) => `"${Array.from({ length }, word).join(' ')}"`;
      return () => {
        think.pause(0.5);
        const terms = queries({ word: word(), other: word(), pair: phrase(2), sentence: phrase(3), language: choose(random, languages) });
        transaction(name, okapi, () => show(okapi, terms.map((query) => [path, { query, limit: 100 }])));
      };
    },
  };
}

/** Returns a phrase with wildcards before and after it. */
export function within(phrase) {
  return phrase.replace(/^"?(.*?)"?$/, '"*$1*"');
}

/** Returns the queries of the workflows by filter and by keyword. */
export function filtered({ sentence, language }) {
  return [
    `keyword all ${sentence} AND languages == ${language}`,
    `languages == ${language} AND items.status.name == Available`,
    `languages == (${language}) AND items.status.name == (Available OR "In transit")`,
    `languages == ${language}`,
  ];
}
