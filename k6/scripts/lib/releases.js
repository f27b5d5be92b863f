// SPDX-License-Identifier: Apache-2.0

const circulationSettings = ['/circulation/settings', { query: '(name==other_settings)' }];

/**
 * The differences between FOLIO's circulation pages in 2023, as in the published reports, and
 * since settings have left the module of configurations.
 */
export const releases = {
  2023: {
    checkInSettings: ['/configurations/entries', { query: '(module=CHECKOUT and configName=other_settings)' }],
    checkOutSettings: ['/configurations/entries', { query: '(module==CHECKOUT and configName==other_settings)' }],
    pictureSettings: ['/configurations/entries', { query: '(module==USERS and configName==profile_pictures)' }],
    openRequest: 'Open',
    limit: 100,
    /** Whether check-ins contain the id of their session. */
    sessions: false,
  },
  2026: {
    checkInSettings: circulationSettings,
    checkOutSettings: circulationSettings,
    pictureSettings: ['/user/settings'],
    openRequest: 'Open*',
    limit: 10000,
    sessions: true,
  },
};
