// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The readiness checks of a process. They run on a separate thread at a fixed interval, so that a
 * health request is cheap and a busy process does not seem broken.
 */
public final class Readiness implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);
  private static final long PERIOD_MILLIS = 1_000;

  private final Map<String, Check> checks = new LinkedHashMap<>();
  private final Map<String, String> problems = new ConcurrentHashMap<>();
  private final ScheduledExecutorService prober = Executors.newSingleThreadScheduledExecutor(task -> {
    Thread thread = new Thread(task, "readiness");
    thread.setDaemon(true);
    return thread;
  });
  private volatile boolean started;

  /** A check throws with a message if something is missing. */
  @FunctionalInterface
  public interface Check {
    void run() throws Exception;
  }

  /** Adds a check; only before {@link #start}. */
  public Readiness require(String name, Check check) {
    checks.put(name, check);
    return this;
  }

  /** Runs every check once, then keeps running them. */
  public void start() {
    probe();
    started = true;
    prober.scheduleWithFixedDelay(this::probe, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void probe() {
    checks.forEach(this::probe);
  }

  private void probe(String name, Check check) {
    try {
      check.run();
      if (problems.remove(name) != null) {
        LOG.info("{} is ready", name);
      }
    } catch (Exception e) {
      if (prober.isShutdown()) {
        return;
      }
      String problem = e.getMessage() == null ? e.toString() : e.getMessage();
      if (!problem.equals(problems.put(name, problem))) {
        LOG.warn("{} is not ready: {}", name, problem);
      }
    }
  }

  /** Returns the problems by the name of the check. It is empty when the process is ready. */
  public Map<String, String> problems() {
    return started ? Map.copyOf(problems) : Map.of("start", "still starting");
  }

  @Override
  public void close() {
    prober.shutdownNow();
  }
}
