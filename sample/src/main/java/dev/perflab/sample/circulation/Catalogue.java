// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import static dev.perflab.sample.db.Collection.indexed;
import static dev.perflab.sample.db.Collection.plain;
import static dev.perflab.sample.db.Collection.unique;

import dev.perflab.sample.db.Collection;
import java.util.ArrayList;
import java.util.List;

/** The collections of the circulation module: patrons, loans and related ones. */
final class Catalogue {
  static final Collection USERS = Collection.of("users", "users",
      unique("barcode"), unique("username"), indexed("externalSystemId"), indexed("patronGroup"),
      plain("active"), plain("personal.lastName"));
  static final Collection GROUPS = Collection.of("usergroups", "groups", plain("group"));
  static final Collection LOANS = Collection.of("loans", "loan",
      indexed("userId"), indexed("itemId"), indexed("status.name"));
  static final Collection REQUESTS = Collection.of("requests", "request",
      indexed("itemId"), indexed("requesterId"), plain("pickupServicePointId"), plain("status"));
  static final Collection ACCOUNTS = Collection.of("accounts", "account",
      indexed("userId"), indexed("itemId"), indexed("loanId"), plain("status.name"));
  static final Collection LOST_ITEM_POLICIES =
      Collection.of("lostItemFeePolicies", "lost_item_fee_policy", plain("name"));
  static final Collection MANUAL_BLOCKS = Collection.of("manualblocks", "manual_block", indexed("userId"));
  static final Collection PROXIES =
      Collection.of("proxiesFor", "proxy_for", indexed("userId"), indexed("proxyUserId"));
  static final Collection NOTES = Collection.of("notes", "note", indexed("userId"));
  static final Collection STAFF_SLIPS = Collection.of("staffSlips", "staff_slip", plain("name"));
  static final Collection CONFIGURATIONS =
      Collection.of("configs", "configuration", plain("module"), plain("configName"));
  static final Collection SETTINGS = Collection.of("circulationSettings", "circulation_setting", plain("name"));
  static final Collection USER_SETTINGS = Collection.of("settings", "user_setting", plain("key"));

  static final List<Collection> ALL = List.of(USERS, GROUPS, LOANS, REQUESTS, ACCOUNTS, LOST_ITEM_POLICIES,
      MANUAL_BLOCKS, PROXIES, NOTES, STAFF_SLIPS, CONFIGURATIONS, SETTINGS, USER_SETTINGS);

  private Catalogue() {}

  static List<String> definition() {
    List<String> statements = new ArrayList<>();
    ALL.forEach(collection -> statements.addAll(collection.definition()));
    // This prevents a second check-out of the same item in all cases.
    statements.add("CREATE UNIQUE INDEX IF NOT EXISTS loan_open_item_idx ON loan (\"itemId\")"
        + " WHERE \"status.name\" = 'Open'");
    return statements;
  }
}
