// SPDX-License-Identifier: Apache-2.0

// MARC 21 bibliographic records in ISO 2709: a leader of 24 bytes, a directory
// of 12 bytes per field, the fields. All lengths and positions count bytes.

const fieldEnd = '\x1e';
const subfield = '\x1f';
const recordEnd = '\x1d';
const leaderLength = 24;
const entryLength = 12;
const ascii = /^[\x00-\x7f]*$/;
const percentEncoded = /%../g;

/** A field without indicators, 001 to 009. */
export function control(tag, value) {
  return field(tag, value);
}

/** A field with two indicators and pairs of subfield code and value. */
export function data(tag, indicators, ...pairs) {
  let content = indicators;
  for (const [code, value] of pairs) content += subfield + code + value;
  return field(tag, content);
}

function field(tag, content) {
  return { tag, text: content + fieldEnd, length: byteLength(content) + 1 };
}

/** One record as text; its lengths are those of its UTF-8. */
export function record(fields) {
  let directory = '';
  let body = '';
  let end = 0;
  for (const { tag, text, length } of fields) {
    directory += tag + digits(length, 4) + digits(end, 5);
    body += text;
    end += length;
  }
  const base = leaderLength + fields.length * entryLength + 1;
  const length = base + end + 1;
  if (length > 99999) throw new Error(`a MARC record of ${length} bytes: 99999 is the most`);
  return `${digits(length, 5)}cam a22${digits(base, 5)} a 4500${directory}${fieldEnd}${body}${recordEnd}`;
}

/** A number with leading zeros. */
export function digits(number, width) {
  return String(number).padStart(width, '0');
}

/** The bytes a text takes in UTF-8. */
export function byteLength(text) {
  if (ascii.test(text)) return text.length;
  return encodeURIComponent(text).replace(percentEncoded, '.').length;
}
