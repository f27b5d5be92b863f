// SPDX-License-Identifier: Apache-2.0

// The job profiles that FOLIO's performance team uses for imports, as steps. A create profile
// creates an instance, a holdings record and an item for each record. An update profile finds the
// three by field 001 and by the HRIDs that an export added as fields 901 and 902.

import { CallError } from './okapi.js';

const bibliographic = 'MARC_BIBLIOGRAPHIC';

export function createProfile(okapi, name) {
  const location = first(okapi, '/locations', 'locations');
  const material = first(okapi, '/material-types', 'mtypes');
  const loan = first(okapi, '/loan-types', 'loantypes');
  return {
    steps: [
      step(name, 'CREATE', 'INSTANCE', []),
      step(name, 'CREATE', 'HOLDINGS', [
        choice('permanentLocationId', 'holdings.permanentLocationId', location, `${location.name} (${location.code})`),
        field('callNumber', 'holdings.callNumber', '050$a " " 050$b; 090$a " " 090$b'),
      ]),
      step(name, 'CREATE', 'ITEM', [
        choice('materialType.id', 'item.materialType.id', material, material.name),
        choice('permanentLoanType.id', 'item.permanentLoanType.id', loan, loan.name),
        field('status.name', 'item.status.name', '"Available"'),
      ]),
    ],
  };
}

export function updateProfile(name) {
  const added = {
    order: 0,
    action: 'ADD',
    field: { field: '947', indicator1: ' ', indicator2: ' ', subfields: [{ subfield: 'a', data: { text: 'Test' } }, { subfield: 'b', data: { text: 'Addition' } }] },
  };
  return {
    steps: [
      {
        ...step(name, 'MODIFY', bibliographic, [], { marcMappingOption: 'MODIFY', marcMappingDetails: [added] }),
        match: match(name, bibliographic, marcField('001', ''), marcField('001', '')),
      },
      {
        ...step(name, 'UPDATE', 'HOLDINGS', [field('callNumber', 'holdings.callNumber', '050$a " " 050$b')]),
        match: match(name, 'HOLDINGS', marcField('901', 'a'), inventoryField('holdingsrecord.hrid')),
      },
      {
        ...step(name, 'UPDATE', 'ITEM', [field('status.name', 'item.status.name', '"Available"')]),
        match: match(name, 'ITEM', marcField('902', 'a'), inventoryField('item.hrid')),
      },
    ],
  };
}

/** Returns an action on records of a type, and the mapping that defines what it writes. */
function step(name, action, recordType, mappingFields, more = {}) {
  const own = `${name} ${action.toLowerCase()} ${recordType.toLowerCase()}`;
  return {
    action: { name: own, action, folioRecord: recordType },
    mapping: {
      name: own,
      incomingRecordType: bibliographic,
      existingRecordType: recordType,
      mappingDetails: { name: recordType.toLowerCase(), recordType, mappingFields, ...more },
    },
  };
}

function match(name, existingRecordType, incoming, existing) {
  return {
    name: `${name} match ${existingRecordType.toLowerCase()}`,
    incomingRecordType: bibliographic,
    existingRecordType,
    matchDetails: [{
      incomingRecordType: bibliographic,
      existingRecordType,
      incomingMatchExpression: incoming,
      existingMatchExpression: existing,
      matchCriterion: 'EXACTLY_MATCHES',
    }],
  };
}

function marcField(tag, subfield) {
  return {
    dataValueType: 'VALUE_FROM_RECORD',
    fields: [
      { label: 'field', value: tag },
      { label: 'indicator1', value: '' },
      { label: 'indicator2', value: '' },
      { label: 'recordSubfield', value: subfield },
    ],
  };
}

function inventoryField(path) {
  return { dataValueType: 'VALUE_FROM_RECORD', fields: [{ label: 'field', value: path }] };
}

function field(name, path, value) {
  return { name, enabled: 'true', path, value, subfields: [] };
}

/** A field that takes one of the system's own values. */
function choice(name, path, { id }, label) {
  return { ...field(name, path, `"${label}"`), acceptedValues: { [id]: label } };
}

function first(okapi, path, key) {
  const [found] = okapi.getJson(path, { query: 'cql.allRecords=1 sortBy name', limit: 1 })[key] || [];
  if (!found) throw new CallError(`GET ${path} lists none, which a job profile needs`, 422);
  return found;
}
