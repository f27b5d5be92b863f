// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import dev.perflab.sample.Deadline;
import dev.perflab.sample.Role;
import dev.perflab.sample.Settings;
import dev.perflab.sample.cql.CqlException;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.DatabaseCheck;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.db.Seed;
import dev.perflab.sample.http.Listing;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.time.Duration;

/** Patrons, loans, check-out and check-in. */
public final class CirculationModule implements Role {
  private final Settings settings;
  private final String schemaName;
  private final String gateway;
  private final Database database;

  public CirculationModule(Settings settings) {
    this.settings = settings;
    schemaName = settings.tenant() + "_circulation";
    gateway = settings.required("OKAPI_URL").replaceAll("/+$", "");
    database = Database.open(settings, schemaName);
  }

  @Override
  public void start(Javalin app, Readiness readiness) {
    Deadline deadline = Deadline.in(Duration.ofSeconds(settings.startDeadlineSeconds()));
    new Schema(schemaName, Catalogue.definition(), new CirculationContent(Seed.of(settings)))
        .prepare(settings, deadline);
    DatabaseCheck.require(readiness, settings, schemaName);
    app.before(ctx -> Server.requireOkapiHeaders(ctx, settings.tenant()));
    loanRoutes(app);
    collection(app, "/users", Catalogue.USERS);
    collection(app, "/groups", Catalogue.GROUPS);
    collection(app, "/circulation/loans", Catalogue.LOANS);
    collection(app, "/circulation/requests", Catalogue.REQUESTS);
    collection(app, "/circulation/settings", Catalogue.SETTINGS);
    collection(app, "/user/settings", Catalogue.USER_SETTINGS);
    collection(app, "/accounts", Catalogue.ACCOUNTS);
    collection(app, "/lost-item-fees-policies", Catalogue.LOST_ITEM_POLICIES);
    collection(app, "/manualblocks", Catalogue.MANUAL_BLOCKS);
    collection(app, "/staff-slips-storage/staff-slips", Catalogue.STAFF_SLIPS);
    collection(app, "/configurations/entries", Catalogue.CONFIGURATIONS);
    Listing proxies = new Listing(database, Catalogue.PROXIES);
    app.get("/proxiesfor", ctx -> proxies.list(ctx, withoutDoubledPrefix(ctx.queryParam("query"))));
    Listing notes = new Listing(database, Catalogue.NOTES);
    app.get("/note-links/domain/users/type/user/id/{id}", ctx -> notes.list(ctx, notesOf(ctx)));
  }

  private void loanRoutes(Javalin app) {
    PatronBlocks blocks = new PatronBlocks(database, settings.atLeast(1, "PATRON_LOAN_LIMIT", 1_000));
    ByBarcode byBarcode = new ByBarcode(database, new InventoryClient(gateway), blocks);
    app.post("/circulation/check-out-by-barcode", byBarcode::checkOut);
    app.post("/circulation/check-in-by-barcode", byBarcode::checkIn);
    app.post("/circulation/end-patron-action-session", ctx -> ctx.status(204));
    app.get("/automated-patron-blocks/{id}", blocks::automated);
  }

  private void collection(Javalin app, String path, Collection collection) {
    Listing listing = new Listing(database, collection);
    app.get(path, listing::list);
    app.get(path + "/{id}", listing::get);
  }

  /** The check-out page sends {@code query=query=(...)}, and FOLIO accepts it. */
  private static String withoutDoubledPrefix(String query) {
    return query != null && query.startsWith("query=") ? query.substring("query=".length()) : query;
  }

  private static String notesOf(Context ctx) {
    String id = ctx.pathParam("id");
    if (!id.matches("[0-9a-fA-F-]{36}")) {
      throw new CqlException("\"" + id + "\" is not a user's id");
    }
    return "userId==\"" + id + "\"";
  }

  @Override
  public void close() {
    database.close();
  }
}
