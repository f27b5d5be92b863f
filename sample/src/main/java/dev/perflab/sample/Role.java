// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.http.Readiness;
import io.javalin.Javalin;

/** One role of the process. */
public interface Role extends AutoCloseable {
  /**
   * Starts what the role needs, adds its routes and its readiness checks. Returns once it serves;
   * throws when a deadline passes.
   */
  void start(Javalin app, Readiness readiness);

  @Override
  void close();
}
