// SPDX-License-Identifier: Apache-2.0

import { search } from '../search.js';

/** Instances by subject: one word with and without wildcards, and two words. */
export const workflow = search('mod search by subject query', '/search/instances', ({ word, pair }) => [
  `subjects all ${word}`,
  `subjects = ${word}*`,
  `subjects = *${word}`,
  `subjects any ${pair}`,
  `subjects == ${word}`,
  `subjects <> ${word}`,
]);
