// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import dev.perflab.sample.cql.CqlException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A set of JSON documents of one kind in PostgreSQL. The document is the source of truth. The
 * fields that a query can name are generated columns, so that index and document always match.
 *
 * @param key the property that holds the documents in a listing, {@code items}
 * @param relation the table or view they are read from
 * @param fields the fields a query may name, besides {@code id}
 */
public record Collection(String key, String relation, List<Field> fields) {

  /** How a field is indexed. */
  public enum Index { NONE, PLAIN, UNIQUE }

  /** A queryable field: a dotted path into the document, which is also the column's name. */
  public record Field(String name, Index index) {
    String column() {
      return '"' + name + '"';
    }

    private String definition() {
      String path = name.replace('.', ',');
      return column() + " text COLLATE \"C\" GENERATED ALWAYS AS (jsonb #>> '{" + path + "}') STORED";
    }
  }

  public static Field plain(String name) {
    return new Field(name, Index.NONE);
  }

  public static Field indexed(String name) {
    return new Field(name, Index.PLAIN);
  }

  public static Field unique(String name) {
    return new Field(name, Index.UNIQUE);
  }

  public static Collection of(String key, String relation, Field... fields) {
    return new Collection(key, relation, Arrays.asList(fields));
  }

  /** The same documents from a view that joins more into them. */
  public Collection from(String view) {
    return new Collection(key, view, fields);
  }

  /** Statements that create the table, its generated columns and its indexes if missing. */
  public List<String> definition() {
    String columns = fields.stream().map(f -> ", " + f.definition()).collect(Collectors.joining());
    String table = "CREATE TABLE IF NOT EXISTS " + relation
        + " (id text COLLATE \"C\" PRIMARY KEY, jsonb jsonb NOT NULL" + columns + ")";
    List<String> indexes = fields.stream()
        .filter(f -> f.index() != Index.NONE)
        .map(this::indexDefinition)
        .toList();
    return Stream.concat(Stream.of(table), indexes.stream()).toList();
  }

  private String indexDefinition(Field field) {
    String kind = field.index() == Index.UNIQUE ? "UNIQUE INDEX" : "INDEX";
    String name = relation + "_" + field.name().replace('.', '_').toLowerCase() + "_idx";
    return "CREATE " + kind + " IF NOT EXISTS " + name + " ON " + relation + " (" + field.column() + ")";
  }

  /** The column of a field named in a query. */
  String column(String field) {
    if (field.equals("id")) {
      return "id";
    }
    return fields.stream()
        .filter(f -> f.name().equals(field))
        .findFirst()
        .map(Field::column)
        .orElseThrow(() -> new CqlException(
            "there is no field \"" + field + "\" in " + key + "; known fields are " + known()));
  }

  private String known() {
    return "id" + fields.stream().map(f -> ", " + f.name()).collect(Collectors.joining());
  }
}
