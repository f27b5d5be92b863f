// SPDX-License-Identifier: Apache-2.0

import { search } from '../search.js';

/** Instances by contributor: one word with and without wildcards, and two words. */
export const workflow = search('mod search by contributors', '/search/instances', ({ word, pair }) => [
  `contributors all ${word}`,
  `contributors = ${word}*`,
  `contributors = *${word}`,
  `contributors any ${pair}`,
  `contributors == ${pair}`,
  `contributors <> ${pair}`,
  `contributors all ${pair}`,
]);
