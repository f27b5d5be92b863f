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
 * For tests of measurements only: makes what users ask slower by a share of the time each request
 * took, so that one knows which difference a comparison should find. It waits instead of computing:
 * the share stays the same on a busy machine, and nobody else is slowed down. It stands at the door,
 * where nearly all of a user's waiting passes, and lets through what modules ask each other: that is
 * part of a user's request already.
 */
final class Slowdown {
  private static final Logger LOG = LoggerFactory.getLogger(Slowdown.class);
  private static final String BEGAN = "slowdown-began";
  /** A thread wakes up about this late; the rest of the time is spent looking at the clock. */
  private static final long WAKING_NANOS = TimeUnit.MICROSECONDS.toNanos(150);

  private final int percent;

  Slowdown(int percent) {
    this.percent = percent;
  }

  /** To be called before the routes are added, so that their time counts from the beginning. */
  void install(Javalin app) {
    if (percent == 0) {
      return;
    }
    LOG.warn("PERFLAB_SLOWDOWN_PERCENT makes every request {} % slower", percent);
    app.before(ctx -> ctx.attribute(BEGAN, System.nanoTime()));
    // After the module answered and before the user is sent it.
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
