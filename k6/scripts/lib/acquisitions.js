// SPDX-License-Identifier: Apache-2.0

// The data of orders and invoices, and the calls that their pages share.

import { CallError } from './okapi.js';
import { need } from './need.js';
import { by, setting, whole } from './pages.js';
import { patiently } from './patience.js';

/**
 * Returns the data of the system that orders and invoices need. The test ends if something is
 * missing.
 */
export function findAcquisitions(okapi) {
  return patiently('cannot find what orders and invoices need', okapi, () => {
    const vendor = first(okapi, '/organizations/organizations', 'organizations', 'isVendor==true and status==Active sortby name');
    return {
      vendor: { id: vendor.id, name: vendor.name },
      fund: richestFund(okapi),
      location: first(okapi, '/locations', 'locations', 'cql.allRecords=1 sortby name').id,
      materialType: first(okapi, '/material-types', 'mtypes', 'cql.allRecords=1 sortby name').id,
      method: first(okapi, '/orders/acquisition-methods', 'acquisitionMethods', 'value==Purchase').id,
      userId: findSelf(okapi),
    };
  });
}

function first(okapi, path, key, query) {
  const [found] = okapi.getJson(path, { query, limit: 1 })[key] || [];
  if (!found) throw new CallError(`GET ${path}?query=${query} lists none, which orders and invoices need`, 422);
  return found;
}

/**
 * Returns the fund whose active budget has the most money left, so that the load does not exhaust
 * it.
 */
function richestFund(okapi) {
  const { budgets = [] } = okapi.getJson('/finance/budgets', { query: 'budgetStatus==Active', limit: 1000 });
  const [budget] = [...budgets].sort((a, b) => (b.available || 0) - (a.available || 0));
  if (!budget) throw new CallError('GET /finance/budgets?query=budgetStatus==Active lists none, which orders and invoices need', 422);
  const { fund } = okapi.getJson(['/finance/funds/{}', budget.fundId]);
  return { id: budget.fundId, code: need(fund && fund.code, 'GET /finance/funds/{}', 'fund.code') };
}

/** Returns the id of the logged-in user. */
export function findSelf(okapi) {
  const { user } = okapi.getJson('/bl-users/_self');
  return need(user && user.id, 'GET /bl-users/_self', 'user.id');
}

/** Returns the distribution of all money to one fund. */
export function distribution({ fund }) {
  return [{ distributionType: 'percentage', value: 100, fundId: fund.id, code: fund.code, encumbrance: null, expenseClassId: null }];
}

export const units = whole('/acquisitions-units/units');
export const tags = whole('/tags', 'label');
export const tagsEnabled = setting('TAGS', 'tags_enabled');
export const addresses = setting('TENANT', 'tenant.addresses');
export const funds = whole('/finance/funds');
export const expenseClasses = whole('/finance/expense-classes');
export const materialTypes = whole('/material-types');
export const prefixes = whole('/orders/configuration/prefixes');
export const suffixes = whole('/orders/configuration/suffixes');
export const closureReasons = whole('/orders/configuration/reasons-for-closure', 'reason');
export const acquisitionMethods = whole('/orders/acquisition-methods', 'value');
export const templates = whole('/orders/order-templates', 'templateName');
export const creatableUnits = by('/acquisitions-units/units', 'protectCreate==false');
export const memberships = (userId) => by('/acquisitions-units/memberships', `userId==${userId}`);

/** Returns the search for organizations by a typed name. */
export function findOrganizations(name) {
  const like = ['name', 'code', 'language', 'aliases', 'erpCode', 'taxId'].map((field) => `${field}="${name}*"`).join(' or ');
  return ['/organizations/organizations', { offset: 0, query: `(((${like}))) sortby name/sort.ascending`, limit: 50 }];
}
