// SPDX-License-Identifier: Apache-2.0

import { need } from '../need.js';
import { choose } from '../random.js';
import { take } from '../steps.js';
import { prepare, transaction } from '../transaction.js';

const name = 'Users loan Renewal Transaction';

/**
 * Looks up and renews a user's loan. The loan is created before the transaction and ended after
 * it, so that the loan never reaches a policy's limit of renewals.
 */
export const workflow = {
  transactions: [name],
  // The script makes 6 requests per minute and user. An iteration with one loan has four.
  thinkTime: 40,
  needs: ['library'],
  begin({ okapi, think, random, library, items, user }) {
    const servicePointId = library.servicePoints[user % library.servicePoints.length];
    let turn = 0;
    return () => {
      const itemBarcode = items.at(turn++ % items.length);
      const userBarcode = choose(random, library.patrons);
      const loan = prepare(name, okapi, () => lend(okapi, { itemBarcode, userBarcode, servicePointId }));
      if (!loan) return;
      transaction(name, okapi, () => renew(okapi, think, loan.userId, itemBarcode));
      prepare(name, okapi, () => takeBack(okapi, { itemBarcode, servicePointId }));
    };
  },
};

function lend(okapi, request) {
  const loan = okapi.post('/circulation/check-out-by-barcode', { ...request, loanDate: new Date().toISOString() }, { expected: 201 });
  need(loan.userId, 'POST /circulation/check-out-by-barcode', 'userId');
  return loan;
}

function takeBack(okapi, request) {
  return okapi.post('/circulation/check-in-by-barcode', { ...request, checkInDate: new Date().toISOString() }, { expected: 200 });
}

function renew(okapi, think, userId, itemBarcode) {
  const loans = (query) => ['/circulation/loans', { query: `(${query}) sortby id`, limit: 100000 }];
  let userBarcode;
  take(think, 1, [
    () => {
      const user = okapi.getJson(['/users/{userId}', userId], { limit: 30 });
      userBarcode = need(user.barcode, 'GET /users/{userId}', 'barcode');
    },
    () => {
      const found = okapi.getJson(...loans(`userId==${userId} and status.name==Open`)).loans || [];
      need(found.find(({ item = {} }) => item.barcode === itemBarcode), 'GET /circulation/loans', `the loan of item ${itemBarcode}`);
    },
    () => okapi.post('/circulation/renew-by-barcode', { itemBarcode, userBarcode }, { expected: 200 }),
    () => okapi.get(...loans(`userId==${userId}`)),
  ]);
}
