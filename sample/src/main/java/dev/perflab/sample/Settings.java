// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import java.util.LinkedHashMap;
import java.util.Map;

/** The settings of a process, read from its environment. An empty variable counts as absent. */
public record Settings(Map<String, String> env) {

  public Settings {
    env = Map.copyOf(env);
  }

  public String text(String name, String fallback) {
    String value = env.getOrDefault(name, "").strip();
    return value.isEmpty() ? fallback : value;
  }

  public boolean has(String name) {
    return !text(name, "").isEmpty();
  }

  public String required(String name) {
    if (!has(name)) {
      throw new IllegalArgumentException("environment variable " + name + " is not set");
    }
    return text(name, "");
  }

  public int number(String name, int fallback) {
    String value = text(name, Integer.toString(fallback));
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "environment variable " + name + " is \"" + value + "\", not a whole number", e);
    }
  }

  /** A number of at least {@code least}. */
  public int atLeast(int least, String name, int fallback) {
    int value = number(name, fallback);
    if (value < least) {
      throw new IllegalArgumentException(
          "environment variable " + name + " is " + value + ", must be at least " + least);
    }
    return value;
  }

  /**
   * All variables below a dotted prefix, keyed by the rest. Both spellings are read:
   * {@code kafka.consumer.max.poll.records}, as FOLIO has it, and
   * {@code KAFKA_CONSUMER_MAX_POLL_RECORDS} for shells that allow no dots.
   */
  public Map<String, String> under(String dottedPrefix) {
    String dotted = dottedPrefix + ".";
    String upper = dotted.replace('.', '_').toUpperCase();
    Map<String, String> found = new LinkedHashMap<>();
    env.forEach((name, value) -> {
      if (name.startsWith(upper)) {
        found.put(name.substring(upper.length()).toLowerCase().replace('_', '.'), value);
      }
    });
    env.forEach((name, value) -> {
      if (name.startsWith(dotted)) {
        found.put(name.substring(dotted.length()), value);
      }
    });
    return found;
  }

  public String tenant() {
    return text("TENANT", "diku");
  }

  /** Name of the current run; if empty, nothing is ever reset. */
  public String run() {
    return text("PERFLAB_RUN", "");
  }

  public int httpPort() {
    return atLeast(0, "HTTP_PORT", 8081);
  }

  /** How long a start may wait for PostgreSQL and Kafka before the process gives up. */
  public int startDeadlineSeconds() {
    return atLeast(1, "START_DEADLINE_SECONDS", 180);
  }
}
