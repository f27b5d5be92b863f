// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.http.Readiness;
import io.javalin.Javalin;

/** One role of the process. */
public interface Role extends AutoCloseable {
  /**
   * Brings up what the role needs, adds its routes and says what its readiness depends on.
   * Returns once it serves; throws when a deadline passes.
   */
  void start(Javalin app, Readiness readiness);

  @Override
  void close();
}
