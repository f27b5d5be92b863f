// SPDX-License-Identifier: Apache-2.0

// Searches of the catalogue, as the performance team's script makes them: each
// workflow is a list of queries with words drawn anew each time.

import { show } from './pages.js';
import { choose } from './random.js';
import { transaction } from './transaction.js';

const languages = ['eng', 'ita', 'ukr'];
/** Seconds a person takes between searches: those of check-in and check-out, for the script's are not known. */
const thinkTime = 4;

/** A workflow of searches; queries makes their list, of words and a language. */
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

/** A phrase with anything before and after it. */
export function within(phrase) {
  return phrase.replace(/^"?(.*?)"?$/, '"*$1*"');
}

/** What the workflows by filter and by keyword ask for. */
export function filtered({ sentence, language }) {
  return [
    `keyword all ${sentence} AND languages == ${language}`,
    `languages == ${language} AND items.status.name == Available`,
    `languages == (${language}) AND items.status.name == (Available OR "In transit")`,
    `languages == ${language}`,
  ];
}
