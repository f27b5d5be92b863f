// SPDX-License-Identifier: Apache-2.0

import { exportWith } from '../export.js';

/** Exports instances with FOLIO's default job profile. */
export const workflow = exportWith('Exporting MARC Bib records workflow', 'Default instances export job profile', ['catalogue']);
