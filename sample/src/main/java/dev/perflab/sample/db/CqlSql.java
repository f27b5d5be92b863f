// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import dev.perflab.sample.cql.Cql;
import dev.perflab.sample.cql.Cql.Combination;
import dev.perflab.sample.cql.Cql.Comparison;
import dev.perflab.sample.cql.Cql.Everything;
import dev.perflab.sample.cql.Cql.Node;
import dev.perflab.sample.cql.Cql.Relation;
import dev.perflab.sample.cql.Cql.Without;
import java.util.ArrayList;
import java.util.List;

/** Translates a parsed query into a WHERE clause with parameters. */
final class CqlSql {
  private final Collection collection;
  private final List<String> parameters = new ArrayList<>();

  private CqlSql(Collection collection) {
    this.collection = collection;
  }

  /** A WHERE clause's condition, the values of its question marks, and the order of the rows. */
  record Condition(String where, List<String> parameters, String orderBy) {}

  static Condition of(Collection collection, Cql.Query query) {
    CqlSql translation = new CqlSql(collection);
    String where = translation.sql(query.where());
    // By id if no order is specified, so that pages do not overlap.
    String orderBy = query.sort()
        .map(s -> collection.column(s.field()) + (s.descending() ? " DESC NULLS LAST, id" : ", id"))
        .orElse("id");
    return new Condition(where, List.copyOf(translation.parameters), orderBy);
  }

  private String sql(Node node) {
    if (node instanceof Everything) {
      return "TRUE";
    }
    if (node instanceof Combination c) {
      return "(" + sql(c.left()) + " " + c.operator().name() + " " + sql(c.right()) + ")";
    }
    if (node instanceof Without w) {
      return "(" + sql(w.left()) + " AND NOT COALESCE(" + sql(w.right()) + ", FALSE))";
    }
    return comparison((Comparison) node);
  }

  private String comparison(Comparison comparison) {
    String column = collection.column(comparison.field());
    List<String> alternatives = comparison.terms().stream().map(t -> match(column, t)).toList();
    String any = "(" + String.join(" OR ", alternatives) + ")";
    // A document that lacks the field is not equal to any term.
    return comparison.relation() == Relation.EQUAL ? any : "NOT COALESCE(" + any + ", FALSE)";
  }

  private String match(String column, String term) {
    if (term.equals("*")) {
      return column + " IS NOT NULL";
    }
    if (term.indexOf('*') < 0 && term.indexOf('?') < 0) {
      parameters.add(term);
      return column + " = ?";
    }
    parameters.add(pattern(term));
    return column + " LIKE ?";
  }

  private static String pattern(String term) {
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        .replace('*', '%').replace('?', '_');
  }
}
