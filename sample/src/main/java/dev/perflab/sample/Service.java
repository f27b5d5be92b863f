// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import dev.perflab.sample.circulation.CirculationModule;
import dev.perflab.sample.dataimport.DataImportModule;
import dev.perflab.sample.gateway.GatewayModule;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import dev.perflab.sample.inventory.InventoryModule;
import io.javalin.Javalin;

/** A role with the HTTP server in front of it. */
public final class Service implements AutoCloseable {
  private final int httpPort;
  private final Role role;
  private final Readiness readiness = new Readiness();
  private final Faults faults;
  private final Javalin app;

  public Service(String roleName, Settings settings) {
    httpPort = settings.httpPort();
    role = role(roleName, settings);
    faults = new Faults(settings);
    app = Server.create(settings, readiness);
  }

  private static Role role(String name, Settings settings) {
    return switch (name) {
      case "gateway" -> new GatewayModule(settings);
      case "circulation" -> new CirculationModule(settings);
      case "inventory-storage" -> new InventoryModule(settings);
      case "data-import" -> new DataImportModule(settings);
      default -> throw new IllegalArgumentException("MODULE is \"" + name
          + "\"; choose gateway, circulation, inventory-storage or data-import");
    };
  }

  /** Listens at once, so that the health check is answered, then starts the role. */
  public void start() {
    app.start(httpPort);
    faults.install(app);
    role.start(app, readiness);
    readiness.start();
  }

  public int port() {
    return app.port();
  }

  @Override
  public void close() {
    readiness.close();
    faults.close();
    app.stop();
    role.close();
  }
}
