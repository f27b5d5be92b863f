// SPDX-License-Identifier: Apache-2.0

import { filtered, search } from '../search.js';

/** Instances by language and by the status of their items. */
export const workflow = search('mod search by filter query', '/search/instances', filtered);
