// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import dev.perflab.sample.http.Server;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Slows users' requests by a share of the time that each request took. Only tests of measurements
 * use it: they check that a comparison finds this difference. It waits instead of computing: the
 * share stays the same on a busy machine, and nothing else is slowed down. It is in the gateway,
 * where nearly all of a user's waiting time passes, and does not slow calls between modules, which
 * are already part of a user's request.
 */
final class Slowdown {
  private static final Logger LOG = LoggerFactory.getLogger(Slowdown.class);
  private static final String BEGAN = "slowdown-began";
  /** A thread wakes up about this late. The rest of the delay is busy waiting. */
  private static final long WAKING_NANOS = TimeUnit.MICROSECONDS.toNanos(150);

  private final int percent;

  Slowdown(int percent) {
    this.percent = percent;
  }

  /**
   * Must be called before the routes are added, so that the time of a request counts from its
   * start.
   */
  void install(Javalin app) {
    if (percent == 0) {
      return;
    }
    LOG.warn("PERFLAB_SLOWDOWN_PERCENT makes every request {} % slower", percent);
    app.before(ctx -> ctx.attribute(BEGAN, System.nanoTime()));
    // After the module has responded and before the user gets the response.
    app.after(this::delay);
  }

  private void delay(Context ctx) {
    Long began = ctx.attribute(BEGAN);
    if (began == null || !slows(ctx)) {
      return;
    }
    long now = System.nanoTime();
    waitUntil(now + (now - began) * percent / 100);
  }

  private static boolean slows(Context ctx) {
    return !Server.isAdministration(ctx) && ctx.header(Server.ASKED_BY_MODULE) == null;
  }

  private static void waitUntil(long end) {
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      if (left > WAKING_NANOS) {
        LockSupport.parkNanos(left - WAKING_NANOS);
      } else {
        Thread.onSpinWait();
      }
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
    }
  }
}
