// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Documents;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** Statements about loans that check-out and check-in share. */
final class Loans {
  private static final Duration PERIOD = Duration.ofDays(14);

  private Loans() {}

  /** Locks this item against other check-outs and check-ins until the transaction ends. */
  static void lockItem(Connection connection, String itemId) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))")) {
      statement.setString(1, itemId);
      statement.execute();
    }
  }

  static Optional<ObjectNode> openLoan(Connection connection, String itemId) throws SQLException {
    return Documents.first(connection, Catalogue.LOANS, "\"itemId\" = ? AND \"status.name\" = 'Open'", itemId);
  }

  static int openLoansOf(Connection connection, String userId) throws SQLException {
    String sql = "SELECT count(*) FROM loan WHERE \"userId\" = ? AND \"status.name\" = 'Open'";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, userId);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  static ObjectNode newLoan(ObjectNode item, ObjectNode user, String servicePointId, Instant loanDate) {
    String now = Instant.now().toString();
    ObjectNode loan = Json.object(
        "id", UUID.randomUUID().toString(),
        "userId", user.path("id").asText(),
        "itemId", item.path("id").asText(),
        "action", "checkedout",
        "itemStatus", "Checked out",
        "loanDate", loanDate.toString(),
        "dueDate", loanDate.plus(PERIOD).toString(),
        "loanPolicyId", CirculationContent.LOAN_POLICY,
        "lostItemPolicyId", CirculationContent.LOST_ITEM_POLICY,
        "checkoutServicePointId", servicePointId,
        "patronGroupIdAtCheckout", user.path("patronGroup").asText());
    loan.putObject("status").put("name", "Open");
    loan.set("item", Json.object("barcode", item.path("barcode").asText(), "title", item.path("title").asText(),
        "holdingsRecordId", item.path("holdingsRecordId").asText()));
    loan.set("borrower", Json.object("barcode", user.path("barcode").asText(),
        "lastName", user.path("personal").path("lastName").asText()));
    loan.putObject("metadata").put("createdDate", now).put("updatedDate", now);
    return loan;
  }

  static ObjectNode closed(ObjectNode loan, String servicePointId, Instant checkInDate) {
    ObjectNode closed = loan.deepCopy();
    closed.putObject("status").put("name", "Closed");
    closed.put("action", "checkedin")
        .put("itemStatus", "Available")
        .put("returnDate", checkInDate.toString())
        .put("systemReturnDate", Instant.now().toString())
        .put("checkinServicePointId", servicePointId);
    return closed;
  }
}
