// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.circulation.CirculationModule;
import dev.perflab.sample.dataimport.DataImportModule;
import dev.perflab.sample.gateway.GatewayModule;
import dev.perflab.sample.http.HttpCalls;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import dev.perflab.sample.inventory.InventoryModule;
import dev.perflab.sample.kafka.Broker;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.Message.Completed;
import dev.perflab.sample.kafka.Message.ParsedChunk;
import dev.perflab.sample.kafka.Message.RawChunk;
import dev.perflab.sample.kafka.Publisher;
import io.javalin.Javalin;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts every role as far as possible without a database and Kafka, so that the JVM can archive
 * the classes of a start ({@code -XX:ArchiveClassesAtExit}). Runs while the image is built.
 */
final class Rehearsal {
  private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
  /** A closed port, so that a connection is refused at once. */
  private static final String NOWHERE = "http://127.0.0.1:1";

  private Rehearsal() {}

  static void run() {
    Settings settings = new Settings(environment());
    Readiness readiness = new Readiness();
    Javalin app = Server.create(settings, readiness).start(0);
    readiness.start();
    request(app.port());
    List<Role> roles = List.of(new GatewayModule(settings), new CirculationModule(settings),
        new InventoryModule(settings), new DataImportModule(settings));
    roles.forEach(role -> rehearse(role, settings));
    rehearseKafka(settings);
    readiness.close();
    app.stop();
  }

  private static Map<String, String> environment() {
    Map<String, String> env = new HashMap<>(Map.of(
        "DB_HOST", "127.0.0.1", "DB_PORT", "1", "DB_DATABASE", "none", "DB_USERNAME", "none",
        "KAFKA_HOST", "127.0.0.1", "KAFKA_PORT", "1", "OKAPI_URL", NOWHERE, "START_DEADLINE_SECONDS", "1"));
    env.putAll(Map.of("CIRCULATION_URL", NOWHERE, "INVENTORY_STORAGE_URL", NOWHERE, "DATA_IMPORT_URL", NOWHERE));
    return env;
  }

  private static void request(int port) {
    HttpRequest health = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/admin/health")).build();
    try {
      HttpCalls.client().send(health, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IllegalStateException("the rehearsal's server does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Loads the Kafka classes. The roles do not get that far: they wait for their database. */
  private static void rehearseKafka(Settings settings) {
    try (Broker broker = new Broker(settings, "rehearsal"); Publisher publisher = broker.publisher()) {
      broker.consume(Event.COMPLETED, 1, messages -> LOG.info("{} messages", messages.size()));
      LOG.info("{} and a consumer are made", publisher.getClass().getSimpleName());
      Json.parse(Json.bytes(new RawChunk("job", 0, List.of(), 0, List.of())), RawChunk.class);
      Json.parse(Json.bytes(new ParsedChunk("job", 0, List.of(), List.of())), ParsedChunk.class);
      Json.parse(Json.bytes(Completed.failed("job", 0, null, null)), Completed.class);
    }
  }

  private static void rehearse(Role role, Settings settings) {
    Readiness readiness = new Readiness();
    try {
      role.start(Server.create(settings, readiness), readiness);
      readiness.start();
    } catch (RuntimeException e) {
      LOG.info("{} comes as far as: {}", role.getClass().getSimpleName(), e.getMessage());
    } finally {
      readiness.close();
      role.close();
    }
  }
}
