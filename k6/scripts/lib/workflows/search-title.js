// SPDX-License-Identifier: Apache-2.0

import { search } from '../search.js';

/** Instances by title: a sentence of three words, and one word with wildcards. */
export const workflow = search('mod search by title query', '/search/instances', ({ word, sentence }) => [
  `title all ${sentence}`,
  `title any ${sentence}`,
  `title == ${sentence}`,
  `title <> ${sentence}`,
  `title all ${word}*`,
  `title all *${word}`,
]);
