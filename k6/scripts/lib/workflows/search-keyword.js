// SPDX-License-Identifier: Apache-2.0

import { filtered, search } from '../search.js';

/** The same queries as by filter: so the performance team's script has it, and its page's times of the two agree. */
export const workflow = search('mod search by keyword query', '/search/instances', filtered);
