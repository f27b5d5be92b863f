// SPDX-License-Identifier: Apache-2.0

import { search, within } from '../search.js';

/** Authorities by keyword: a word and a sentence, each with all relations. */
export const workflow = search('mod search by auth query', '/search/authorities', ({ word, sentence }) => [
  `keyword all ${word}`,
  `keyword any ${word}`,
  `keyword = ${word}`,
  `keyword <> ${word}`,
  `keyword == ${word}`,
  `keyword all *${word}*`,
  `keyword all ${sentence}`,
  `keyword any ${sentence}`,
  `keyword == ${sentence}`,
  `keyword <> ${sentence}`,
  `keyword = ${sentence}`,
  `keyword = ${within(sentence)}`,
]);
