// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.db.Seed;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Users and reference data, and for each user one past loan, request and account. */
final class CirculationContent implements Schema.Content {
  static final String LOAN_POLICY = "d9cd0bed-1b49-4b5e-a7bd-064b8d177231";
  static final String LOST_ITEM_POLICY = "ed892c0e-52e0-4cd9-8133-c0ef07b4a709";
  static final String SERVICE_POINT = "3a40852d-49fd-4df2-a1f9-6e2641a6e91f";
  private static final String PAST = "'2026-01-05T09:00:00.000+00:00'";

  private final Seed seed;

  CirculationContent(Seed seed) {
    this.seed = seed;
  }

  @Override
  public String fingerprint() {
    return seed.toString();
  }

  @Override
  public void seed(Statement statement) throws SQLException {
    reference(statement);
    insert(statement, "users", seed.users(), seed.id("user", "n"),
        "'username', 'patron' || n, 'barcode', " + Seed.userBarcode("n")
            + ", 'externalSystemId', 'ext' || n, 'active', true, 'type', 'patron', 'patronGroup', "
            + seed.pick("group", "n", groupIds())
            + ", 'personal', jsonb_build_object('lastName', "
            + seed.pick("last name", "n", "Ahmed", "Berg", "Costa", "Diaz", "Evans", "Fischer", "Garcia", "Haas")
            + ", 'firstName', "
            + seed.pick("first name", "n", "Ada", "Bela", "Carl", "Dana", "Emil", "Fay", "Gus", "Hana")
            + ", 'email', 'patron' || n || '@library.example')");
    history(statement);
  }

  private static String[] groupIds() {
    return new String[] {"3684a786-6671-4268-8ed0-9db82ebca60b", "bdc2b6d4-5ceb-4a12-ab46-249b9a68473e",
        "503a81cd-6c26-400f-b620-14c08943697c", "ad0bc554-d5bc-463c-85d1-5562127ae91b"};
  }

  private static void reference(Statement statement) throws SQLException {
    String[] names = {"staff", "undergrad", "faculty", "graduate"};
    for (int i = 0; i < names.length; i++) {
      document(statement, "groups", groupIds()[i], "'group', '" + names[i] + "', 'desc', 'Library " + names[i] + "'");
    }
    String[] slips = {"Hold", "Transit", "Pick slip", "Request delivery"};
    for (int i = 0; i < slips.length; i++) {
      document(statement, "staff_slip", "6a6e72f0-69da-4b4c-8254-7154679e9d8" + i,
          "'name', '" + slips[i] + "', 'active', true, 'template', '<p>{{item.title}}</p>'");
    }
    document(statement, "lost_item_fee_policy", LOST_ITEM_POLICY,
        "'name', 'Standard lost item fee', 'lostItemProcessingFee', 0, 'chargeAmountItemPatron', false");
    document(statement, "configuration", "c6f1f2a0-9d6f-4d2c-8f7e-0c9a2b0d1e11",
        "'module', 'CHECKOUT', 'configName', 'other_settings', 'enabled', true, 'value',"
            + " '{\"audioAlertsEnabled\":false,\"checkoutTimeout\":true,\"checkoutTimeoutDuration\":3}'");
    document(statement, "configuration", "c6f1f2a0-9d6f-4d2c-8f7e-0c9a2b0d1e12",
        "'module', 'USERS', 'configName', 'profile_pictures', 'enabled', true, 'value', 'false'");
    document(statement, "circulation_setting", "c6f1f2a0-9d6f-4d2c-8f7e-0c9a2b0d1e13",
        "'name', 'other_settings', 'value', jsonb_build_object('audioAlertsEnabled', false, 'checkoutTimeout', true)");
    document(statement, "user_setting", "c6f1f2a0-9d6f-4d2c-8f7e-0c9a2b0d1e14",
        "'key', 'PROFILE_PICTURE_CONFIG', 'scope', 'mod-users', 'value', jsonb_build_object('enabled', false)");
  }

  private void history(Statement statement) throws SQLException {
    String item = seed.id("item", "1 + (n - 1) % " + seed.items());
    String user = seed.id("user", "n");
    String loan = seed.id("loan", "n");
    insert(statement, "loan", seed.users(), loan,
        "'userId', " + user + ", 'itemId', " + item + ", 'status', jsonb_build_object('name', 'Closed'),"
            + " 'action', 'checkedin', 'loanDate', " + PAST + ", 'returnDate', " + PAST
            + ", 'loanPolicyId', '" + LOAN_POLICY + "', 'lostItemPolicyId', '" + LOST_ITEM_POLICY + "'");
    insert(statement, "request", seed.users(), seed.id("request", "n"),
        "'requesterId', " + user + ", 'itemId', " + item + ", 'status', 'Closed - Filled', 'requestType', 'Page',"
            + " 'requestDate', " + PAST + ", 'pickupServicePointId', '" + SERVICE_POINT + "'");
    insert(statement, "account", seed.users(), seed.id("account", "n"),
        "'userId', " + user + ", 'itemId', " + item + ", 'loanId', " + loan
            + ", 'amount', 1.5, 'remaining', 0, 'feeFineType', 'Overdue fine',"
            + " 'status', jsonb_build_object('name', 'Closed')");
  }

  private static void insert(Statement statement, String table, int count, String id, String properties)
      throws SQLException {
    statement.execute("INSERT INTO " + table + " (id, jsonb) SELECT " + id
        + ", jsonb_build_object('id', " + id + ", " + properties + ") FROM generate_series(1, " + count + ") n");
  }

  private static void document(Statement statement, String table, String id, String properties)
      throws SQLException {
    insert(statement, table, 1, "'" + id + "'", properties);
  }

  @Override
  public void clear(Statement statement) throws SQLException {
    statement.execute("TRUNCATE " + String.join(", ", tables()));
  }

  @Override
  public void restore(Statement statement) throws SQLException {
    statement.execute("TRUNCATE loan, request, account, manual_block");
    history(statement);
  }

  @Override
  public List<String> tables() {
    return Catalogue.ALL.stream().map(Collection::relation).toList();
  }
}
