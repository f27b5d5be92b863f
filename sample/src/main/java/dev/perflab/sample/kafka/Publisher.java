// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import dev.perflab.sample.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.ToIntFunction;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends events. The message's number selects the partition, so that all partitions get the same
 * share.
 */
public final class Publisher implements AutoCloseable {
  static final String RUN_HEADER = "perflab-run";
  private static final String TENANT_HEADER = "x-okapi-tenant";
  private static final String JOB_HEADER = "jobExecutionId";

  private final KafkaProducer<String, byte[]> producer;
  private final String environment;
  private final String tenant;
  private final String run;

  Publisher(Map<String, Object> properties, String environment, String tenant, String run) {
    producer = new KafkaProducer<>(properties, new StringSerializer(), new ByteArraySerializer());
    this.environment = environment;
    this.tenant = tenant;
    this.run = run;
  }

  /** Sends all messages and waits until every one is acknowledged. */
  public <M extends Message> void send(Event event, List<M> messages, ToIntFunction<M> number) {
    List<Future<RecordMetadata>> sent = new ArrayList<>(messages.size());
    for (M message : messages) {
      sent.add(producer.send(envelope(event, message, number.applyAsInt(message))));
    }
    for (Future<RecordMetadata> acknowledgement : sent) {
      await(event, acknowledgement);
    }
  }

  private ProducerRecord<String, byte[]> envelope(Event event, Message message, int number) {
    String topic = event.topic(environment, tenant);
    int partition = number % producer.partitionsFor(topic).size();
    ProducerRecord<String, byte[]> envelope =
        new ProducerRecord<>(topic, partition, Integer.toString(number), Json.bytes(message));
    header(envelope, RUN_HEADER, run);
    header(envelope, TENANT_HEADER, tenant);
    header(envelope, JOB_HEADER, message.jobExecutionId());
    return envelope;
  }

  private static void header(ProducerRecord<String, byte[]> envelope, String name, String value) {
    envelope.headers().add(name, value.getBytes(StandardCharsets.UTF_8));
  }

  private static void await(Event event, Future<RecordMetadata> acknowledgement) {
    try {
      acknowledgement.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RecordTooLargeException) {
        throw new TooLarge(event.typeName() + ": " + e.getCause().getMessage(), e.getCause());
      }
      throw new IllegalStateException("sending " + event.typeName() + ": " + e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending " + event.typeName(), e);
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(5));
  }

  /** The message is too large for the brokers, so a retry fails too. */
  public static final class TooLarge extends RuntimeException {
    TooLarge(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
