// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import dev.perflab.sample.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One consumer on one thread. Offsets are committed after the handler has finished, so a crash
 * repeats messages and never loses one; handlers must be idempotent. A handler that throws gets the
 * same messages again after a pause. Messages of another run are left over from before a reset and
 * are skipped.
 */
public final class EventConsumer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventConsumer.class);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  private final KafkaConsumer<String, byte[]> consumer;
  private final String topic;
  private final String run;
  private final Handler handler;
  private final Thread thread;
  private volatile boolean joined;
  private volatile boolean stopping;

  /** Handles messages of one poll. */
  @FunctionalInterface
  public interface Handler {
    void handle(List<byte[]> messages);
  }

  EventConsumer(Map<String, Object> properties, String topic, String run, Handler handler) {
    consumer = new KafkaConsumer<>(withDefaults(properties), new StringDeserializer(), new ByteArrayDeserializer());
    this.topic = topic;
    this.run = run;
    this.handler = handler;
    thread = new Thread(this::loop, (String) properties.get("client.id"));
  }

  private static Map<String, Object> withDefaults(Map<String, Object> properties) {
    Map<String, Object> all = new HashMap<>(properties);
    all.put("enable.auto.commit", false);
    all.put("allow.auto.create.topics", false);
    all.putIfAbsent("auto.offset.reset", "earliest");
    // A request that is lost while the broker loads its groups is retried sooner than after 30 s.
    all.putIfAbsent("request.timeout.ms", 10_000);
    return all;
  }

  EventConsumer start() {
    thread.start();
    return this;
  }

  /** Throws unless the consumer has joined its group and its thread is running. */
  void requireRunning() throws IOException {
    if (!thread.isAlive()) {
      throw new IOException("consumer " + thread.getName() + " has ended");
    }
    if (!joined) {
      throw new IOException("consumer " + thread.getName() + " has not joined its group");
    }
  }

  private void loop() {
    try {
      consumer.subscribe(List.of(topic), new Joined());
      while (!stopping) {
        step();
      }
    } catch (WakeupException e) {
      // Thrown by poll when the process stops.
    } catch (RuntimeException e) {
      LOG.error("consumer {} ends", thread.getName(), e);
    } finally {
      consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
  }

  private void step() {
    ConsumerRecords<String, byte[]> records = consumer.poll(POLL);
    if (records.isEmpty()) {
      return;
    }
    List<byte[]> messages =
        StreamSupport.stream(records.spliterator(), false).filter(this::ofThisRun).map(ConsumerRecord::value).toList();
    try {
      if (!messages.isEmpty()) {
        handler.handle(messages);
      }
      consumer.commitSync();
    } catch (WakeupException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.warn("{}: {} messages will be tried again: {}", thread.getName(), messages.size(), e.toString());
      rewind(records);
      pause();
    }
  }

  private boolean ofThisRun(ConsumerRecord<String, byte[]> message) {
    Header header = message.headers().lastHeader(Publisher.RUN_HEADER);
    return header != null && run.equals(new String(header.value(), StandardCharsets.UTF_8));
  }

  private void rewind(ConsumerRecords<String, byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      // If the partition was revoked meanwhile, the next owner starts at the committed offset.
      if (consumer.assignment().contains(partition)) {
        consumer.seek(partition, new OffsetAndMetadata(records.records(partition).get(0).offset()));
      }
    }
  }

  private void pause() {
    try {
      Thread.sleep(RETRY_PAUSE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stopping = true;
    }
  }

  void stop() {
    stopping = true;
    consumer.wakeup();
  }

  @Override
  public void close() {
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Called after every rebalance, even if this consumer got no partitions. */
  private final class Joined implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      // Uncommitted messages are delivered again, to any consumer.
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      joined = true;
    }
  }

  /** Parses a message. Logs an invalid message and returns null. */
  public static <M> M readOrNull(byte[] message, Class<M> type) {
    try {
      return Json.parse(message, type);
    } catch (Json.MalformedJson e) {
      LOG.warn("ignoring a message that is no {}: {}", type.getSimpleName(), e.getMessage());
      return null;
    }
  }
}
