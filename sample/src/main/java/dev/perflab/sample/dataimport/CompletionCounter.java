// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.db.Database;
import dev.perflab.sample.kafka.EventConsumer;
import dev.perflab.sample.kafka.Message.Completed;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Counts finished records by job. */
final class CompletionCounter implements EventConsumer.Handler {
  private final Database database;

  CompletionCounter(Database database) {
    this.database = database;
  }

  @Override
  public void handle(List<byte[]> messages) {
    Map<String, List<Completed>> byJob = messages.stream()
        .map(message -> EventConsumer.readOrNull(message, Completed.class))
        .filter(Objects::nonNull)
        .collect(Collectors.groupingBy(Completed::jobExecutionId, TreeMap::new, Collectors.toList()));
    byJob.forEach((job, outcomes) -> database.write(c -> {
      Jobs.complete(c, job, outcomes);
      return null;
    }));
  }
}
