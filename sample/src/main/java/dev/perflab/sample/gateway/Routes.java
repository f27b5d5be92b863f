// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import dev.perflab.sample.Settings;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The paths of each module. */
final class Routes {
  private static final Map<String, String> MODULE_OF = Map.ofEntries(
      Map.entry("inventory", "inventory-storage"),
      Map.entry("item-storage", "inventory-storage"),
      Map.entry("holdings-storage", "inventory-storage"),
      Map.entry("instance-storage", "inventory-storage"),
      Map.entry("service-points", "inventory-storage"),
      Map.entry("authority-storage", "inventory-storage"),
      Map.entry("locations", "inventory-storage"),
      Map.entry("material-types", "inventory-storage"),
      Map.entry("loan-types", "inventory-storage"),
      Map.entry("data-import", "data-import"),
      Map.entry("data-import-profiles", "data-import"),
      Map.entry("data-export", "data-import"),
      Map.entry("change-manager", "data-import"),
      Map.entry("metadata-provider", "data-import"),
      Map.entry("circulation", "circulation"),
      Map.entry("users", "circulation"),
      Map.entry("groups", "circulation"),
      Map.entry("staff-slips-storage", "circulation"),
      Map.entry("configurations", "circulation"),
      Map.entry("user", "circulation"),
      Map.entry("accounts", "circulation"),
      Map.entry("lost-item-fees-policies", "circulation"),
      Map.entry("proxiesfor", "circulation"),
      Map.entry("note-links", "circulation"),
      Map.entry("manualblocks", "circulation"),
      Map.entry("automated-patron-blocks", "circulation"));

  private final Map<String, URI> modules = new LinkedHashMap<>();

  Routes(Settings settings) {
    for (String module : new String[] {"circulation", "inventory-storage", "data-import"}) {
      modules.put(module, address(settings, module));
    }
  }

  private static URI address(Settings settings, String module) {
    String variable = module.replace('-', '_').toUpperCase() + "_URL";
    String url = settings.required(variable);
    URI address = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
    if (!"http".equals(address.getScheme()) || address.getHost() == null) {
      throw new IllegalArgumentException(
          "environment variable " + variable + " is \"" + url + "\", not an http URL");
    }
    return address;
  }

  /** The modules behind the gateway and their addresses. */
  Map<String, URI> modules() {
    return modules;
  }

  /** The module that serves a path, by its first segment. */
  Optional<URI> of(String path) {
    int end = path.indexOf('/', 1);
    String first = path.substring(1, end < 0 ? path.length() : end);
    return Optional.ofNullable(MODULE_OF.get(first)).map(modules::get);
  }
}
