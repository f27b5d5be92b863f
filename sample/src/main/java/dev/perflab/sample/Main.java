// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the role named by the first argument or the variable {@code MODULE}. */
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  private Main() {}

  public static void main(String[] arguments) {
    Settings settings = new Settings(System.getenv());
    String role = arguments.length > 0 ? arguments[0] : settings.text("MODULE", "");
    try {
      if (role.equals("rehearsal")) {
        Rehearsal.run();
        return;
      }
      run(role, settings);
    } catch (RuntimeException e) {
      LOG.error("\"{}\" cannot start: {}", role, e.getMessage(), e.getCause());
      System.exit(1);
    }
  }

  private static void run(String role, Settings settings) {
    LOG.info("starting {}, heap up to {} MiB, {} processors",
        role, Runtime.getRuntime().maxMemory() >> 20, Runtime.getRuntime().availableProcessors());
    Service service = new Service(role, settings);
    Runtime.getRuntime().addShutdownHook(new Thread(service::close, "shutdown"));
    service.start();
    long sinceStart = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
    LOG.info("{} listens on port {}, {} ms after the start of the JVM", role, service.port(), sinceStart);
  }
}
