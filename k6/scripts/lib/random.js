// SPDX-License-Identifier: Apache-2.0

/** A 32-bit hash of a text (FNV-1a). */
export function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  return h >>> 0;
}

/** Returns a generator of numbers in [0, 1) with a text as the seed (mulberry32). */
export function generator(seed) {
  let state = hash(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 0x100000000;
  };
}

/** Returns a random element of a list. */
export function choose(random, list) {
  return list[Math.floor(random() * list.length)];
}
