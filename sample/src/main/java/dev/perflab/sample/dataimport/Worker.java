// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes work that is queued in the database, on its own thread: immediately when it is woken,
 * and every second for work that another replica has left.
 */
final class Worker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  private final String name;
  private final Runnable work;
  private final ScheduledExecutorService thread;

  Worker(String name, Runnable work) {
    this.name = name;
    this.work = work;
    thread = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, name));
  }

  /** Starts polling for the work that another replica has left. */
  void start() {
    thread.scheduleWithFixedDelay(this::run, 1, 1, TimeUnit.SECONDS);
  }

  /** Wakes the worker for queued work. */
  void wake() {
    thread.execute(this::run);
  }

  private void run() {
    try {
      work.run();
    } catch (RuntimeException e) {
      LOG.warn("{}: what waits will be tried again: {}", name, e.toString());
    }
  }

  @Override
  public void close() {
    thread.shutdown();
    try {
      thread.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.shutdownNow();
  }
}
