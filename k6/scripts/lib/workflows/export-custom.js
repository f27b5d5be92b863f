// SPDX-License-Identifier: Apache-2.0

import { profileName } from '../data-export.js';
import { exportWith } from '../export.js';

/**
 * Exports instances with the HRIDs of their holdings and items. The profile is created if it does
 * not exist.
 */
export const workflow = exportWith('Exporting MARC Bib records custom workflow', profileName, ['catalogue', 'exportProfile']);
