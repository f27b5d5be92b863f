// SPDX-License-Identifier: Apache-2.0

import { byteLength, control, data, digits, record } from './marc.js';
import { choose, generator, hash } from './random.js';
import * as words from './words.js';

const importDigits = 3;
/** Records turned into bytes at a time. */
const batch = 1000;

/** The most a file's record keys can number. */
export const maxRecords = 999999;
export const maxImports = 999;

/**
 * A file of bibliographic records, made once from a seed and a run's name and
 * numbered anew for each import: fields 001, 010 and 035 hold a key that occurs
 * in no other run, import or record.
 */
export class BibliographicFile {
  constructor(seed, run, records) {
    this.key = `pl${digits(hash(run).toString(16), 8)}`;
    this.length = 0;
    this.importNumbers = []; // where they stand in bytes
    const random = generator(`${seed}/${run}`);
    const parts = [];
    for (let n = 1; n <= records; n += batch) parts.push(this.encode(random, n, Math.min(n + batch - 1, records)));
    this.bytes = join(parts, this.length);
  }

  /** The file of import number n, as the body of a request. */
  forImport(n) {
    const number = digits(n, importDigits);
    for (const at of this.importNumbers) {
      for (let i = 0; i < importDigits; i++) this.bytes[at + i] = number.charCodeAt(i);
    }
    return this.bytes.buffer;
  }

  encode(random, first, last) {
    const texts = [];
    for (let n = first; n <= last; n++) {
      const text = this.record(random, n);
      // Up to the last key all is ASCII, so that characters are bytes.
      for (let at = text.indexOf(this.key); at >= 0; at = text.indexOf(this.key, at + 1)) {
        this.importNumbers.push(this.length + at + this.key.length);
      }
      this.length += byteLength(text);
      texts.push(text);
    }
    return new TextEncoder().encode(texts.join(''));
  }

  record(random, n) {
    const key = this.key + digits(0, importDigits) + digits(n, 6);
    return record([
      ...identity(random, key),
      ...description(random, n),
      ...notes(random),
      ...subjects(random),
      ...others(random, n),
    ]);
  }
}

function join(parts, length) {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const year = (random) => 1900 + Math.floor(random() * 125);
const pick = (random, list, count) => Array.from({ length: count }, () => choose(random, list));
const sentence = (random, count) => {
  const text = pick(random, words.nouns, count).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};
const person = (random) => `${choose(random, words.surnames)}, ${choose(random, words.forenames)}`;

const source = control('003', 'PerfLab');
const changed = control('005', '20260102030405.0');
const cataloguer = data('040', '  ', ['a', 'PerfLab'], ['b', 'eng'], ['e', 'rda'], ['c', 'PerfLab']);
const area = data('043', '  ', ['a', 'e------']);
const aBook = [
  data('336', '  ', ['a', 'text'], ['b', 'txt'], ['2', 'rdacontent']),
  data('337', '  ', ['a', 'unmediated'], ['b', 'n'], ['2', 'rdamedia']),
  data('338', '  ', ['a', 'volume'], ['b', 'nc'], ['2', 'rdacarrier']),
];
const references = data('504', '  ', ['a', 'Includes bibliographical references and index.']);
const genre = data('655', ' 7', ['a', 'Nonfiction.'], ['2', 'lcgft']);

function identity(random, key) {
  return [
    control('001', key),
    source,
    changed,
    control('008', `260102s${year(random)}    ${choose(random, words.places).code}           000 0 ${choose(random, words.languages)} d`),
    data('010', '  ', ['a', `   ${key}`]),
    data('035', '  ', ['a', `(PerfLab)${key}`]),
    cataloguer,
    area,
  ];
}

function description(random, n) {
  const author = person(random);
  return [
    data('100', '1 ', ['a', `${author},`], ['d', `${year(random)}-`], ['e', 'author.']),
    data('245', '10', ['a', `${sentence(random, 3)} ${n} :`], ['b', `${sentence(random, 6)} /`], ['c', `${author}.`]),
    data('246', '3 ', ['a', sentence(random, 4)]),
    data('264', ' 1', ['a', `${choose(random, words.places).name} :`], ['b', `${choose(random, words.surnames)} & ${choose(random, words.surnames)},`], ['c', `${year(random)}.`]),
    data('300', '  ', ['a', `${40 + Math.floor(random() * 900)} pages :`], ['b', 'illustrations, maps ;'], ['c', '24 cm']),
    ...aBook,
    data('490', '1 ', ['a', `${sentence(random, 3)} ;`], ['v', String(1 + Math.floor(random() * 99))]),
  ];
}

function notes(random) {
  return [
    data('500', '  ', ['a', `${sentence(random, 12)}.`]),
    references,
    data('520', '  ', ['a', `${sentence(random, 10 + Math.floor(random() * 14))}.`]),
  ];
}

function subjects(random) {
  return [
    ...pick(random, words.nouns, 3).map((word) => data('650', ' 0', ['a', word], ['x', choose(random, words.nouns)], ['v', 'Periodicals.'])),
    data('651', ' 0', ['a', choose(random, words.places).name], ['x', 'History.']),
    genre,
  ];
}

function others(random, n) {
  return [
    data('700', '1 ', ['a', `${person(random)},`], ['e', 'editor.']),
    data('710', '2 ', ['a', `${choose(random, words.places).name} University Press.`]),
    data('830', ' 0', ['a', `${sentence(random, 3)} ;`], ['v', '1.']),
    data('856', '40', ['u', `https://library.example/${n}`], ['z', 'Full text']),
  ];
}
