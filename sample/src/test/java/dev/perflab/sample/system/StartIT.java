// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.Deadline;
import dev.perflab.sample.Service;
import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Starts of modules: waiting for topics, restoring data together, choosing pools. */
class StartIT {
  private static Map<String, String> environment() throws Exception {
    Map<String, String> env = Backends.shared().environment(1);
    env.putAll(Map.of("HTTP_PORT", "0", "OKAPI_URL", "http://127.0.0.1:1"));
    return env;
  }

  @Test
  void givesUpWaitingForTopicsNobodyMakes() throws Exception {
    Map<String, String> env = environment();
    env.putAll(Map.of("ENV", "nobody", "START_DEADLINE_SECONDS", "1"));
    try (Service service = new Service("inventory-storage", new Settings(env))) {
      String message = assertThrows(Deadline.DeadlinePassed.class, service::start).getMessage();
      assertTrue(message.startsWith("gave up after 1 s waiting for topics [nobody.Default.diku.DI_"), message);
    }
    Backends backends = Backends.shared();
    try (var admin = backends.kafka().admin()) {
      assertFalse(admin.listTopics().names().get().contains("nobody.Default.diku.DI_COMPLETED"));
    }
  }

  @Test
  void givesUpWaitingForADatabaseThatIsNotThere() throws Exception {
    Map<String, String> env = environment();
    env.putAll(Map.of("DB_PORT", "1", "START_DEADLINE_SECONDS", "1"));
    try (Service service = new Service("circulation", new Settings(env))) {
      assertEquals("gave up after 1 s waiting for database 127.0.0.1:1",
          assertThrows(Deadline.DeadlinePassed.class, service::start).getMessage());
    }
  }

  @Test
  void restoresOnceHoweverManyReplicasStartTogether() throws Exception {
    Map<String, String> env = environment();
    env.put("PERFLAB_RUN", "first");
    startTogether(env, 1);
    Backends backends = Backends.shared();
    String database = env.get("DB_DATABASE");
    String lent = "UPDATE diku_inventory_storage.item SET jsonb = jsonb_set(jsonb, '{status,name}', '\"Checked out\"')"
        + " WHERE barcode = '1000000001'";
    backends.execute(database, lent);
    startTogether(env, 2);
    assertEquals(39, available(env));
    env.put("PERFLAB_RUN", "second");
    startTogether(env, 3);
    assertEquals(40, available(env));
    assertEquals(40, backends.count(database, "diku_inventory_storage.item"));
  }

  @Test
  void seedsAnewWhenTheSizeChanges() throws Exception {
    Map<String, String> env = environment();
    startTogether(env, 1);
    env.put("SEED_ITEMS", "7");
    startTogether(env, 2);
    assertEquals(7, Backends.shared().count(env.get("DB_DATABASE"), "diku_inventory_storage.item"));
  }

  private static long available(Map<String, String> env) throws Exception {
    return Backends.shared().count(env.get("DB_DATABASE"),
        "diku_inventory_storage.item WHERE \"status.name\" = 'Available'");
  }

  private static void startTogether(Map<String, String> env, int replicas) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(replicas);
    try {
      List<Callable<Boolean>> starts = new ArrayList<>();
      for (int i = 0; i < replicas; i++) {
        starts.add(() -> {
          try (Service service = new Service("inventory-storage", new Settings(env))) {
            service.start();
            return true;
          }
        });
      }
      for (Future<Boolean> start : threads.invokeAll(starts)) {
        assertTrue(start.get());
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void readsFromTheReaderAndWritesToTheWriter() throws Exception {
    Map<String, String> env = environment();
    // The same server under another name is another endpoint, so it gets its own pool.
    env.putAll(Map.of("DB_HOST_READER", "localhost", "DB_PORT_READER", env.get("DB_PORT")));
    try (Database database = Database.open(new Settings(env), "public")) {
      assertTrue(database.split());
      assertEquals("on", database.read(StartIT::readOnly));
      assertEquals("off", database.write(StartIT::readOnly));
    }
    env.remove("DB_PORT_READER");
    try (Database database = Database.open(new Settings(env), "public")) {
      assertFalse(database.split());
      assertEquals("off", database.read(StartIT::readOnly));
    }
  }

  private static String readOnly(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
      row.next();
      return row.getString(1);
    }
  }
}
