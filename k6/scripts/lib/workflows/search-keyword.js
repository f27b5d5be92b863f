// SPDX-License-Identifier: Apache-2.0

import { filtered, search } from '../search.js';

/**
 * The same queries as by filter, as in the performance team's script. The times of the two on its
 * page agree.
 */
export const workflow = search('mod search by keyword query', '/search/instances', filtered);
