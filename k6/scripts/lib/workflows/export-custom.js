// SPDX-License-Identifier: Apache-2.0

import { profileName } from '../data-export.js';
import { exportWith } from '../export.js';

/** Instances with HRIDs of their holdings and items, by a profile that is made if it is not there. */
export const workflow = exportWith('Exporting MARC Bib records custom workflow', profileName, ['catalogue', 'exportProfile']);
