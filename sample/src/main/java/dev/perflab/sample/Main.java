// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.circulation.CirculationModule;
import dev.perflab.sample.dataimport.DataImportModule;
import dev.perflab.sample.gateway.GatewayModule;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import dev.perflab.sample.inventory.InventoryModule;
import io.javalin.Javalin;
import java.lang.management.ManagementFactory;
import java.time.Duration;
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
      run(role, settings);
    } catch (RuntimeException e) {
      LOG.error("{} cannot start: {}", role.isEmpty() ? "sample" : role, e.getMessage(), e.getCause());
      System.exit(1);
    }
  }

  private static void run(String role, Settings settings) {
    if (role.equals("rehearsal")) {
      Rehearsal.run();
      return;
    }
    LOG.info("starting {}, heap up to {} MiB, {} processors",
        role, Runtime.getRuntime().maxMemory() >> 20, Runtime.getRuntime().availableProcessors());
    Role module = role(role, settings);
    Readiness readiness = new Readiness();
    Javalin app = Server.create(settings, readiness);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(app, module, readiness), "shutdown"));
    app.start(settings.httpPort());
    module.start(app, readiness);
    readiness.start();
    LOG.info("{} listens on port {}, {} s after the start of the JVM", role, app.port(), sinceStart().toMillis() / 1000.0);
  }

  static Role role(String role, Settings settings) {
    return switch (role) {
      case "gateway" -> new GatewayModule(settings);
      case "circulation" -> new CirculationModule(settings);
      case "inventory-storage" -> new InventoryModule(settings);
      case "data-import" -> new DataImportModule(settings);
      default -> throw new IllegalArgumentException("MODULE is \"" + role
          + "\"; choose gateway, circulation, inventory-storage or data-import");
    };
  }

  private static Duration sinceStart() {
    return Duration.ofMillis(System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime());
  }

  private static void stop(Javalin app, Role module, Readiness readiness) {
    readiness.close();
    app.stop();
    module.close();
  }
}
