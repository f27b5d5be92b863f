// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import dev.perflab.sample.Deadline;
import dev.perflab.sample.Settings;
import dev.perflab.sample.http.Readiness;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A module's access to Kafka. Other components create the topics with their partitions: a module
 * waits for topics and never creates one.
 */
public final class Broker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
  private static final String VERSION = "1.0.0";

  private final Settings settings;
  private final String module;
  private final String bootstrap;
  private final String environment;
  private final Admin admin;
  private final Map<Event, Integer> partitions = new EnumMap<>(Event.class);
  private final List<EventConsumer> consumers = new ArrayList<>();

  public Broker(Settings settings, String module) {
    this.settings = settings;
    this.module = module;
    bootstrap = settings.required("KAFKA_HOST") + ":" + settings.atLeast(1, "KAFKA_PORT", 9092);
    environment = settings.text("ENV", "folio");
    try {
      admin = Admin.create(adminSettings());
    } catch (KafkaException e) {
      throw new IllegalArgumentException("KAFKA_HOST and KAFKA_PORT give \"" + bootstrap + "\": " + cause(e), e);
    }
  }

  private Map<String, Object> adminSettings() {
    Map<String, Object> properties = security();
    properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 3_000);
    properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000);
    return properties;
  }

  private Map<String, Object> security() {
    Map<String, Object> properties = new HashMap<>();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("client.id", module);
    for (String name : List.of("security.protocol", "ssl.truststore.location", "ssl.truststore.password",
        "ssl.truststore.type", "sasl.mechanism", "sasl.jaas.config")) {
      String value = settings.text("kafka." + name, settings.text("KAFKA_" + name.replace('.', '_').toUpperCase(), ""));
      if (!value.isEmpty()) {
        properties.put(name, value);
      }
    }
    return properties;
  }

  /** Waits until all topics exist. */
  public void awaitTopics(Deadline deadline, Event... events) {
    String logged = "";
    while (true) {
      try {
        for (Event event : events) {
          partitions.put(event, partitionsOf(event));
        }
        LOG.info("topics of {} are there: {}", bootstrap, partitions);
        return;
      } catch (IOException e) {
        if (!e.getMessage().equals(logged)) {
          logged = e.getMessage();
          LOG.info("waiting for topics {}: {}", topics(events), logged);
        }
        deadline.pause(Duration.ofMillis(300), "topics " + topics(events) + ", last: " + logged, e);
      }
    }
  }

  private List<String> topics(Event... events) {
    return Arrays.stream(events).map(e -> e.topic(environment, settings.tenant())).toList();
  }

  private int partitionsOf(Event event) throws IOException {
    String topic = event.topic(environment, settings.tenant());
    try {
      TopicDescription description = admin.describeTopics(List.of(topic)).topicNameValues().get(topic).get();
      return description.partitions().size();
    } catch (ExecutionException e) {
      throw new IOException("Kafka at " + bootstrap + ", topic " + topic + ": " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while asking for topic " + topic, e);
    }
  }

  /** Returns a producer for the topics that {@link #awaitTopics} found. */
  public Publisher publisher() {
    Map<String, Object> properties = security();
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 5);
    properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 60_000);
    properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 15_000);
    properties.putAll(settings.under("kafka.producer"));
    return new Publisher(properties, environment, settings.tenant(), settings.run());
  }

  /**
   * Starts {@code CONSUMER_INSTANCES} consumers of a topic, but at most one per partition, because
   * more would be idle.
   */
  public void consume(Event event, EventConsumer.Handler handler) {
    int wanted = settings.atLeast(1, "CONSUMER_INSTANCES", 5);
    consume(event, Math.min(wanted, partitions.get(event)), handler);
  }

  /** Starts a given number of consumers. */
  public void consume(Event event, int instances, EventConsumer.Handler handler) {
    String topic = event.topic(environment, settings.tenant());
    String group = event.typeName() + "." + module + "-" + VERSION;
    for (int i = 0; i < instances; i++) {
      Map<String, Object> properties = security();
      properties.put("client.id", module + "-" + event.typeName() + "-" + i);
      properties.put("group.id", group);
      properties.put("max.poll.records", event.maxPollRecords());
      properties.putAll(settings.under("kafka.consumer"));
      consumers.add(new EventConsumer(properties, topic, settings.run(), handler).start());
    }
    LOG.info("{} consumers of {} in group {}", instances, topic, group);
  }

  /** Requires that Kafka responds, the topics exist and every consumer has joined its group. */
  public void require(Readiness readiness) {
    readiness.require("kafka topics", () -> {
      for (Event event : partitions.keySet()) {
        partitionsOf(event);
      }
    });
    readiness.require("kafka consumers", () -> {
      for (EventConsumer consumer : consumers) {
        consumer.requireRunning();
      }
    });
  }

  private static String cause(Throwable e) {
    Throwable deepest = e;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    return deepest.getMessage();
  }

  @Override
  public void close() {
    consumers.forEach(EventConsumer::stop);
    consumers.forEach(EventConsumer::close);
    admin.close(Duration.ofSeconds(1));
  }
}
