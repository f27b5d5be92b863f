// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Listing;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Blocks that prevent a patron from borrowing: too many open loans, or a manual block. */
final class PatronBlocks {
  private final Database database;
  private final int maxLoans;

  PatronBlocks(Database database, int maxLoans) {
    this.database = database;
    this.maxLoans = maxLoans;
  }

  void automated(Context ctx) {
    int loans = database.read(c -> Loans.openLoansOf(c, ctx.pathParam("id")));
    List<String> blocks = loans < maxLoans ? List.of() : List.of(block(loans).toString());
    Listing.json(ctx, "automatedPatronBlocks", blocks, blocks.size());
  }

  private ObjectNode block(int loans) {
    return Json.object("patronBlockConditionId", "3d7c52dc-c732-4223-8bf8-e5917801386f",
        "blockBorrowing", true, "blockRenewals", false, "blockRequests", false,
        "message", "The patron has " + loans + " items on loan, the limit is " + maxLoans);
  }

  /** Rejects a check-out by a blocked patron. */
  void check(Connection connection, String userId) throws SQLException {
    boolean manual = Documents.first(connection, Catalogue.MANUAL_BLOCKS,
        "\"userId\" = ? AND jsonb->>'borrowing' = 'true'", userId).isPresent();
    if (manual || Loans.openLoansOf(connection, userId) >= maxLoans) {
      throw Problem.unprocessable("Patron blocked from borrowing", "USER_IS_BLOCKED", "userId", userId);
    }
  }
}
