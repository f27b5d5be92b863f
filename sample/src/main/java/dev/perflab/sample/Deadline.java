// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import java.time.Duration;
import java.time.Instant;

/** A time limit for waiting. Its error names what was waited for. */
public final class Deadline {
  private final Instant end;
  private final Duration allowed;

  private Deadline(Duration allowed) {
    this.allowed = allowed;
    this.end = Instant.now().plus(allowed);
  }

  public static Deadline in(Duration allowed) {
    return new Deadline(allowed);
  }

  /** Sleeps for {@code step}, or throws if the deadline has passed. */
  public void pause(Duration step, String waitingFor, Throwable lastProblem) {
    if (Instant.now().isAfter(end)) {
      throw new DeadlinePassed(
          "gave up after " + allowed.toSeconds() + " s waiting for " + waitingFor, lastProblem);
    }
    try {
      Thread.sleep(step.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeadlinePassed("interrupted while waiting for " + waitingFor, e);
    }
  }

  /** The deadline has passed. */
  public static final class DeadlinePassed extends RuntimeException {
    DeadlinePassed(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
