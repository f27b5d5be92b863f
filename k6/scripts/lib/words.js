// SPDX-License-Identifier: Apache-2.0

// What records are made of: enough scripts and diacritics that a reader which
// takes characters for bytes shows it.

export const nouns = [
  'archive', 'atlas', 'bridge', 'catalogue', 'chemistry', 'climate', 'commerce', 'cuisine', 'dialogue', 'economy',
  'education', 'engineering', 'estuary', 'façade', 'fisheries', 'forest', 'garden', 'geometry', 'glacier', 'harbour',
  'history', 'industry', 'invention', 'journal', 'język', 'kingdom', 'landscape', 'language', 'logic', 'mathématiques',
  'medicine', 'migration', 'music', 'naïveté', 'navigation', 'orchard', 'papermaking', 'philosophy', 'poetry', 'portrait',
  'railway', 'reformation', 'république', 'river', 'science', 'sculpture', 'statistics', 'theatre', 'théorie', 'travel',
  'university', 'valley', 'volcano', 'Übersetzung', 'weather', 'weaving', 'workshop', 'библиотека', '図書館', 'zoology',
];

export const surnames = [
  'Adams', 'Bērziņš', 'Castañeda', 'Dvořák', 'Eriksson', 'Fernández', 'García', 'Hansen', 'Ito', 'Jørgensen',
  'Kowalski', 'Łukasiewicz', 'Müller', 'Nguyễn', "O'Brien", 'Pérez', 'Quist', 'Rousseau', 'Şahin', 'Толстой',
  'Ueda', 'Võ', 'Weiß', 'Xu', 'Yılmaz', 'Žižka', '田中',
];

export const forenames = [
  'Anaïs', 'Björn', 'Chloë', 'Dagmar', 'Étienne', 'Fatima', 'Grace', 'Håkon', 'Inês', 'José', 'Karin', 'Lucía', 'Małgorzata',
  'Noël', 'Olga', 'Paul', 'Renée', 'Søren', 'Tomáš', 'Ursula', 'Vera', 'William', 'Zoë',
];

export const places = [
  { name: 'Boston', code: 'mau' }, { name: 'Göttingen', code: 'gw ' }, { name: 'København', code: 'dk ' }, { name: 'Kraków', code: 'pl ' },
  { name: 'London', code: 'enk' }, { name: 'Málaga', code: 'sp ' }, { name: 'Montréal', code: 'quc' }, { name: '東京', code: 'ja ' },
  { name: 'Zürich', code: 'sz ' },
];

export const languages = ['eng', 'fre', 'ger', 'pol', 'spa'];
