// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import dev.perflab.sample.Settings;

/**
 * The size and the seed of the generated library, and SQL expressions derived from them. The same
 * number of the same kind has the same id in every module and every run.
 */
public record Seed(int seed, int items, int users) {

  public static Seed of(Settings settings) {
    return new Seed(
        settings.number("SEED", 1),
        settings.atLeast(1, "SEED_ITEMS", 5_000),
        settings.atLeast(1, "SEED_USERS", 500));
  }

  /**
   * Returns SQL for the id of the {@code number}-th row of a kind: a hash with the version and the
   * variant of a version 5 UUID.
   */
  public String id(String kind, String number) {
    return "overlay(overlay(" + hash(kind, number) + " placing '5' from 13) placing '8' from 17)::uuid::text";
  }

  /** Returns SQL that selects one of several words. */
  public String pick(String kind, String number, String... words) {
    String index = "1 + abs(('x' || left(" + hash(kind, number) + ", 7))::bit(28)::int) % " + words.length;
    return "(ARRAY['" + String.join("','", words) + "'])[" + index + "]";
  }

  private String hash(String kind, String number) {
    return "md5('" + seed + " " + kind + " ' || (" + number + ")::text)";
  }

  /** SQL for an item's barcode: 1000000001, 1000000002, ... */
  public static String itemBarcode(String number) {
    return "'1' || lpad((" + number + ")::text, 9, '0')";
  }

  /** SQL for a user's barcode: 2000000001, 2000000002, ... */
  public static String userBarcode(String number) {
    return "'2' || lpad((" + number + ")::text, 9, '0')";
  }

  @Override
  public String toString() {
    return "seed " + seed + ", " + items + " items, " + users + " users";
  }
}
