// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;

/** Apache Kafka, broker and controller in one separate process, on free ports of the loopback. */
final class KafkaServer implements AutoCloseable {
  private static final Duration START_DEADLINE = Duration.ofSeconds(90);

  private final Path directory;
  private final int port;
  private final Process process;

  private KafkaServer(Path directory, int port, Process process) {
    this.directory = directory;
    this.port = port;
    this.process = process;
  }

  static KafkaServer start() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("sample-kafka");
    int port = Ports.free();
    Path properties = Files.writeString(directory.resolve("server.properties"), properties(directory, port, Ports.free()));
    Process format = java(directory, "kafka.tools.StorageTool", "format", "--standalone",
        "-t", "4L6g3nShT-eMCtK--X86sw", "-c", properties.toString());
    if (!format.waitFor(60, TimeUnit.SECONDS) || format.exitValue() != 0) {
      throw new IllegalStateException("formatting Kafka's storage failed:\n" + log(directory));
    }
    KafkaServer server = new KafkaServer(directory, port, java(directory, "kafka.Kafka", properties.toString()));
    server.awaitStart();
    return server;
  }

  private static String properties(Path directory, int port, int controllerPort) {
    return """
        process.roles=broker,controller
        node.id=1
        controller.quorum.bootstrap.servers=127.0.0.1:%2$d
        listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
        advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
        controller.listener.names=CONTROLLER
        log.dirs=%3$s
        auto.create.topics.enable=false
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=4
        group.initial.rebalance.delay.ms=0
        """.formatted(port, controllerPort, directory.resolve("logs"));
  }

  private static Process java(Path directory, String... command) throws IOException {
    String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> line = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classPath));
    line.addAll(List.of(command));
    return new ProcessBuilder(line)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("out.log").toFile()))
        .start();
  }

  private void awaitStart() throws InterruptedException {
    Instant end = Instant.now().plus(START_DEADLINE);
    try (Admin admin = admin()) {
      while (true) {
        try {
          admin.listTopics().names().get();
          return;
        } catch (ExecutionException e) {
          if (!process.isAlive() || Instant.now().isAfter(end)) {
            throw new IllegalStateException("Kafka did not start:\n" + log(directory), e);
          }
        }
      }
    }
  }

  private static String log(Path directory) {
    try {
      return Files.readString(directory.resolve("out.log"));
    } catch (IOException e) {
      return "no log: " + e.getMessage();
    }
  }

  int port() {
    return port;
  }

  Admin admin() {
    try {
      return Admin.create(Map.<String, Object>of("bootstrap.servers", "127.0.0.1:" + port,
          "default.api.timeout.ms", 5_000, "request.timeout.ms", 2_000));
    } catch (KafkaException e) {
      throw new IllegalStateException(e);
    }
  }

  void createTopics(List<String> names, int partitions) throws ExecutionException, InterruptedException {
    try (Admin admin = admin()) {
      admin.createTopics(names.stream().map(n -> new NewTopic(n, partitions, (short) 1)).toList()).all().get();
    }
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    // The JVM's shutdown does not interrupt joining.
    process.onExit().completeOnTimeout(process, 20, TimeUnit.SECONDS).join();
    process.destroyForcibly();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
