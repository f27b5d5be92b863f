// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** PerfLab's k6 with one of its scripts. */
final class LoadScript {
  private static final Path SCRIPTS = Path.of("..", "k6", "scripts");

  private LoadScript() {}

  /** The result of a run: its exit code, its log and its samples. */
  record Result(int exitCode, String log, List<Sample> samples) {
    /** The values of a metric's samples that have a tag of this value. */
    List<Double> values(String metric, String tag, String value) {
      return samples.stream().filter(s -> s.metric().equals(metric) && value.equals(s.tags().get(tag)))
          .map(Sample::value).toList();
    }
  }

  /** One sample, as k6's JSON output writes it. */
  record Sample(String metric, double value, Map<String, String> tags) {}

  /** The program, from {@code PERFLAB_K6} or where {@code make build-k6} writes it. */
  static Optional<Path> program() {
    return Stream.of(System.getenv("PERFLAB_K6"), "../bin/k6")
        .filter(path -> path != null && new File(path).canExecute())
        .map(path -> Path.of(path).toAbsolutePath())
        .findFirst();
  }

  static Result run(Path program, String script, Map<String, String> environment) throws IOException, InterruptedException {
    Path samples = Files.createTempFile("k6", ".json");
    Path log = Files.createTempFile("k6", ".log");
    try {
      ProcessBuilder k6 = new ProcessBuilder(program.toString(), "run", "--quiet", "--no-color", "--no-thresholds",
          "--summary-mode=disabled", "--address=127.0.0.1:0", "--log-output=stderr", "--out=json=" + samples,
          SCRIPTS.resolve(script).toString());
      k6.environment().putAll(environment);
      k6.environment().putAll(Map.of("K6_NO_USAGE_REPORT", "true", "K6_AUTO_EXTENSION_RESOLUTION", "false"));
      Process process = k6.redirectErrorStream(true).redirectOutput(log.toFile()).start();
      if (!process.waitFor(300, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException("k6 does not end: " + Files.readString(log));
      }
      return new Result(process.exitValue(), Files.readString(log), read(samples));
    } finally {
      Files.delete(samples);
      Files.delete(log);
    }
  }

  private static List<Sample> read(Path file) throws IOException {
    List<Sample> samples = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      ObjectNode point = Json.parseObject(line);
      if (point.path("type").asText().equals("Point")) {
        Map<String, String> tags = new HashMap<>();
        point.path("data").path("tags").properties().forEach(t -> tags.put(t.getKey(), t.getValue().asText()));
        samples.add(new Sample(point.path("metric").asText(), point.path("data").path("value").asDouble(), tags));
      }
    }
    return samples;
  }
}
