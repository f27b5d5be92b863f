// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.http.Server;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Injects a memory leak or an exit into a module. Only tests of measurements use it: they check
 * that a report finds the leak or the restart.
 */
final class Faults implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Faults.class);

  private final int leakedBytes;
  private final int lifeSeconds;
  private final Runnable end;
  /** The leaked memory. It is never read. */
  private final Queue<byte[]> leaked = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "end-of-life");
        thread.setDaemon(true);
        return thread;
      });

  Faults(Settings settings) {
    // Skips the shutdown hooks, as a crash does.
    this(settings, () -> Runtime.getRuntime().halt(1));
  }

  Faults(Settings settings, Runnable end) {
    leakedBytes = settings.atLeast(0, "PERFLAB_LEAK_BYTES_PER_REQUEST", 0);
    lifeSeconds = settings.atLeast(0, "PERFLAB_EXIT_AFTER_SECONDS", 0);
    this.end = end;
  }

  /**
   * Adds the faults when the process starts to serve. Must be called before the routes are added.
   */
  void install(Javalin app) {
    if (leakedBytes > 0) {
      LOG.warn("PERFLAB_LEAK_BYTES_PER_REQUEST keeps {} bytes of every request for ever", leakedBytes);
      app.before(this::leak);
    }
    if (lifeSeconds > 0) {
      LOG.warn("PERFLAB_EXIT_AFTER_SECONDS ends this process in {} s", lifeSeconds);
      clock.schedule(this::exit, lifeSeconds, TimeUnit.SECONDS);
    }
  }

  private void leak(Context ctx) {
    if (!Server.isAdministration(ctx)) {
      leaked.add(new byte[leakedBytes]);
    }
  }

  private void exit() {
    LOG.error("PERFLAB_EXIT_AFTER_SECONDS is over: this process ends");
    end.run();
  }

  /** The number of leaked bytes, for tests. */
  long leakedBytes() {
    return leaked.stream().mapToLong(bytes -> bytes.length).sum();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
