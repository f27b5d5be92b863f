// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Deadline;
import dev.perflab.sample.Json;
import dev.perflab.sample.Role;
import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.DatabaseCheck;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.db.Seed;
import dev.perflab.sample.http.Listing;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import dev.perflab.sample.kafka.Broker;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.Publisher;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.Optional;

/** Instances, holdings and items; stores the parsed records of data imports. */
public final class InventoryModule implements Role {
  private static final String NAME = "inventory-storage";

  private final Settings settings;
  private final String schemaName;
  private final Database database;
  private final Broker broker;
  private Publisher publisher;

  public InventoryModule(Settings settings) {
    this.settings = settings;
    schemaName = settings.tenant() + "_inventory_storage";
    database = Database.open(settings, schemaName);
    broker = new Broker(settings, NAME);
  }

  @Override
  public void start(Javalin app, Readiness readiness) {
    Deadline deadline = Deadline.in(Duration.ofSeconds(settings.startDeadlineSeconds()));
    new Schema(schemaName, Catalogue.definition(), new InventoryContent(Seed.of(settings)))
        .prepare(settings, deadline);
    DatabaseCheck.require(readiness, settings, schemaName);
    routes(app);
    broker.awaitTopics(deadline, Event.PARSED_RECORDS_CHUNK_SAVED, Event.COMPLETED);
    publisher = broker.publisher();
    broker.consume(Event.PARSED_RECORDS_CHUNK_SAVED, new RecordWriter(database, publisher));
    broker.require(readiness);
  }

  private void routes(Javalin app) {
    app.before(ctx -> Server.requireOkapiHeaders(ctx, settings.tenant()));
    collection(app, "/inventory/items", Catalogue.INVENTORY_ITEMS);
    collection(app, "/inventory/instances", Catalogue.INSTANCES);
    collection(app, "/item-storage/items", Catalogue.ITEMS);
    collection(app, "/holdings-storage/holdings", Catalogue.HOLDINGS);
    collection(app, "/instance-storage/instances", Catalogue.INSTANCES);
    collection(app, "/service-points", Catalogue.SERVICE_POINTS);
    collection(app, "/authority-storage/authorities", Catalogue.AUTHORITIES);
    collection(app, "/locations", Catalogue.LOCATIONS);
    collection(app, "/material-types", Catalogue.MATERIAL_TYPES);
    collection(app, "/loan-types", Catalogue.LOAN_TYPES);
    app.put("/item-storage/items/{id}", this::putItem);
  }

  private void collection(Javalin app, String path, Collection collection) {
    Listing listing = new Listing(database, collection);
    app.get(path, listing::list);
    app.get(path + "/{id}", listing::get);
  }

  /** Replaces an item with optimistic locking: 409 if it is no longer the version that was read. */
  private void putItem(Context ctx) {
    ObjectNode item = Json.parseObject(ctx.body());
    String id = ctx.pathParam("id");
    if (!id.equals(item.path("id").asText())) {
      throw Problem.unprocessable("id in the path and in the item differ", "ID_MISMATCH", "id", id);
    }
    boolean replaced = database.write(c -> Documents.replaceVersion(c, Catalogue.ITEMS, item));
    if (!replaced) {
      throw absentOrChanged(id, item.path("_version").asInt());
    }
    ctx.status(204);
  }

  private Problem absentOrChanged(String id, int version) {
    Optional<ObjectNode> stored = database.write(c -> Documents.byId(c, Catalogue.ITEMS, id));
    return stored
        .map(s -> Problem.conflict("Cannot update record " + id + " because it has been changed: stored _version is "
            + s.path("_version").asInt() + ", _version of request is " + version))
        .orElseGet(() -> Problem.notFound("no item " + id));
  }

  @Override
  public void close() {
    broker.close();
    if (publisher != null) {
      publisher.close();
    }
    database.close();
  }
}
