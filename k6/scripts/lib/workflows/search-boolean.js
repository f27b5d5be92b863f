// SPDX-License-Identifier: Apache-2.0

import { search } from '../search.js';

/** Instances by subject and title, combined. */
export const workflow = search('mod search by boolean query', '/search/instances', ({ word, other }) => [
  `subjects all ${word} AND title all ${other}`,
  `subjects all ${word} OR title all ${other}`,
  `subjects = (${word} OR ${other})`,
  `subjects all ${word} NOT title all ${other}`,
]);
