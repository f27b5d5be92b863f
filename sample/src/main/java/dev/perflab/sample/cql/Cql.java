// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.cql;

import java.util.List;
import java.util.Optional;

/**
 * The subset of the Contextual Query Language that FOLIO's check-in, check-out and import pages
 * use: comparisons, term lists, {@code and}/{@code or}/{@code not}, parentheses, {@code sortBy}.
 */
public final class Cql {
  private Cql() {}

  /** A parsed query. */
  public record Query(Node where, Optional<Sort> sort) {}

  /** {@code sortBy field} or {@code sortBy field/sort.descending}. */
  public record Sort(String field, boolean descending) {}

  /** A part of a query. */
  public sealed interface Node permits Everything, Comparison, Combination, Without {}

  /** {@code cql.allRecords=1}, or no query. */
  public record Everything() implements Node {}

  /** {@code field==term} or {@code field==(term or term)}: true if any term matches. */
  public record Comparison(String field, Relation relation, List<String> terms) implements Node {
    public Comparison {
      terms = List.copyOf(terms);
    }
  }

  /** {@code left and right}, {@code left or right}. */
  public record Combination(Operator operator, Node left, Node right) implements Node {}

  /** {@code left not right}, the "and not" of CQL. */
  public record Without(Node left, Node right) implements Node {}

  /** How a field is compared. */
  public enum Relation { EQUAL, NOT_EQUAL }

  /** How two conditions are joined. */
  public enum Operator { AND, OR }

  /** Parses {@code text}; blank text matches everything. */
  public static Query parse(String text) {
    if (text == null || text.isBlank()) {
      return new Query(new Everything(), Optional.empty());
    }
    return new CqlParser(text).query();
  }
}
