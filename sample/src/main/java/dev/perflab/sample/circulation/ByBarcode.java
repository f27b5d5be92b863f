// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Database.DatabaseException;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * Check-out and check-in. The loan and the item's status change together: the item in
 * inventory-storage is updated under its lock, before the loan's transaction commits.
 */
final class ByBarcode {
  private final Database database;
  private final InventoryClient inventory;
  private final PatronBlocks blocks;

  ByBarcode(Database database, InventoryClient inventory, PatronBlocks blocks) {
    this.database = database;
    this.inventory = inventory;
    this.blocks = blocks;
  }

  void checkOut(Context ctx) {
    ObjectNode body = Json.parseObject(ctx.body());
    String itemBarcode = required(body, "itemBarcode");
    String userBarcode = required(body, "userBarcode");
    String servicePoint = required(body, "servicePointId");
    Instant loanDate = date(body, "loanDate").orElseGet(Instant::now);
    ObjectNode item = item(ctx, itemBarcode);
    ObjectNode user = user(userBarcode);
    ObjectNode loan = Loans.newLoan(item, user, servicePoint, loanDate);
    try {
      database.write(c -> lend(c, ctx, item, loan));
    } catch (DatabaseException e) {
      // Even without the lock, the index on open loans prevents a second loan.
      throw e.isDuplicate() ? alreadyOut(itemBarcode) : e;
    }
    ctx.status(201).contentType("application/json").result(loan.toString());
  }

  private Void lend(Connection connection, Context ctx, ObjectNode item, ObjectNode loan) throws SQLException {
    String itemId = item.path("id").asText();
    String userId = loan.path("userId").asText();
    String barcode = item.path("barcode").asText();
    Loans.lockItem(connection, itemId);
    if (Loans.openLoan(connection, itemId).isPresent()) {
      throw alreadyOut(barcode);
    }
    blocks.check(connection, userId);
    requireNoOtherRequester(connection, itemId, userId, barcode);
    Documents.insert(connection, Catalogue.LOANS, loan);
    inventory.setStatus(ctx, item, "Checked out");
    return null;
  }

  private static void requireNoOtherRequester(Connection connection, String itemId, String userId, String barcode)
      throws SQLException {
    boolean requested = Documents.first(connection, Catalogue.REQUESTS,
        "\"itemId\" = ? AND \"requesterId\" <> ? AND status LIKE 'Open%'", itemId, userId).isPresent();
    if (requested) {
      throw Problem.unprocessable("User checking out must be requester awaiting pickup for item " + barcode,
          "ITEM_REQUESTED_BY_ANOTHER_PATRON", "itemBarcode", barcode);
    }
  }

  void checkIn(Context ctx) {
    ObjectNode body = Json.parseObject(ctx.body());
    String itemBarcode = required(body, "itemBarcode");
    String servicePoint = required(body, "servicePointId");
    required(body, "checkInDate");
    Instant checkInDate = date(body, "checkInDate").orElseThrow();
    ObjectNode item = item(ctx, itemBarcode);
    ObjectNode answer = database.write(c -> takeBack(c, ctx, item, servicePoint, checkInDate));
    ctx.status(200).contentType("application/json").result(answer.toString());
  }

  private ObjectNode takeBack(
      Connection connection, Context ctx, ObjectNode item, String servicePoint, Instant checkInDate)
      throws SQLException {
    String itemId = item.path("id").asText();
    Loans.lockItem(connection, itemId);
    Optional<ObjectNode> closed =
        Loans.openLoan(connection, itemId).map(loan -> Loans.closed(loan, servicePoint, checkInDate));
    ObjectNode answer = Json.object();
    if (closed.isPresent()) {
      Documents.replace(connection, Catalogue.LOANS, closed.get());
      answer.set("loan", closed.get());
    }
    answer.set("item", inventory.setStatus(ctx, item, "Available"));
    return answer;
  }

  private ObjectNode item(Context ctx, String barcode) {
    return inventory.byBarcode(ctx, barcode).orElseThrow(() -> Problem.unprocessable(
        "No item with barcode " + barcode + " exists", "ITEM_NOT_FOUND", "itemBarcode", barcode));
  }

  private ObjectNode user(String barcode) {
    ObjectNode user = database.read(c -> Documents.first(c, Catalogue.USERS, "barcode = ?", barcode))
        .orElseThrow(() -> Problem.unprocessable("Could not find user with matching barcode",
            "USER_BARCODE_NOT_FOUND", "userBarcode", barcode));
    if (!user.path("active").asBoolean()) {
      throw Problem.unprocessable("Cannot check out to inactive user", "USER_IS_INACTIVE", "userBarcode", barcode);
    }
    return user;
  }

  private static Problem alreadyOut(String barcode) {
    return Problem.unprocessable("Item is already checked out", "ITEM_ALREADY_CHECKED_OUT", "itemBarcode", barcode);
  }

  private static String required(ObjectNode body, String name) {
    String value = body.path(name).asText("");
    if (value.isBlank()) {
      throw Problem.unprocessable(name + " is required", "REQUIRED_FIELD_MISSING", name, "");
    }
    return value;
  }

  private static Optional<Instant> date(ObjectNode body, String name) {
    String value = body.path(name).asText("");
    if (value.isBlank()) {
      return Optional.empty();
    }
    try {
      return Optional.of(OffsetDateTime.parse(value).toInstant());
    } catch (DateTimeException e) {
      throw Problem.unprocessable(name + " is not an ISO 8601 date with a zone", "INVALID_DATE", name, value);
    }
  }
}
