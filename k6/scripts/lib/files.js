// SPDX-License-Identifier: Apache-2.0

import { SharedArray } from 'k6/data';
import { deal, requireShares } from './shares.js';

/**
 * Returns the barcodes and service points of a folder, with one value per line. k6 keeps each
 * list once for all users. It must be called while k6 initializes. Missing data stops the test
 * with a message.
 */
export function readFolder(folder, users) {
  const items = (name) => new SharedArray(name, () => {
    const dealt = deal(lines(folder, name), users);
    requireShares(dealt, users, `${folder}/${name}`);
    return dealt;
  });
  return {
    shelf: items('check-out-items.csv'),
    returns: items('check-in-items.csv'),
    patrons: new SharedArray('users.csv', () => lines(folder, 'users.csv')),
    servicePoints: new SharedArray('service-points.csv', () => lines(folder, 'service-points.csv', [])),
  };
}

/**
 * Returns a list of a folder, or an empty list if there is none. It must be called while k6
 * initializes.
 */
export function readList(folder, name) {
  return new SharedArray(name, () => lines(folder, name, []));
}

/** Returns the lines of a file that are not empty. Without a fallback, the file must exist. */
function lines(folder, name, fallback) {
  const path = `${folder}/${name}`;
  let content;
  try {
    content = open(path);
  } catch (error) {
    if (fallback && /no such file|could not be found|not exist/.test(error)) return fallback;
    throw new Error(`DATA_DIR is "${folder}", but ${path} cannot be read (${error}); write one barcode per line into it`);
  }
  const found = content.replace(/^\uFEFF/, '').split('\n').map((line) => line.trim()).filter((line) => line !== '');
  if (found.length === 0) throw new Error(`${path} is empty; write one ${unit(name)} per line into it`);
  return found;
}

function unit(name) {
  return { 'service-points.csv': 'id', 'instances.csv': 'id', 'search-words.csv': 'word', 'accounts.csv': 'id', 'external-identifiers.csv': 'identifier' }[name] || 'barcode';
}
