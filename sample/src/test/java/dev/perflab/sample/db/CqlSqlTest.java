// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.perflab.sample.cql.Cql;
import dev.perflab.sample.cql.CqlException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CqlSqlTest {
  private static final Collection LOANS = Collection.of("loans", "loan",
      Collection.indexed("userId"), Collection.plain("status.name"));

  private static CqlSql.Condition condition(String text) {
    return CqlSql.of(LOANS, Cql.parse(text));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      userId==u                             | ("userId" = ?)
      id==u                                 | (id = ?)
      userId==u and status.name==Open       | (("userId" = ?) AND ("status.name" = ?))
      status.name<>Closed                   | NOT COALESCE(("status.name" = ?), FALSE)
      status.name==(Open or Closed)         | ("status.name" = ? OR "status.name" = ?)
      status.name=="Op*"                    | ("status.name" LIKE ?)
      userId==*                             | ("userId" IS NOT NULL)
      userId==u not status.name==Open       | (("userId" = ?) AND NOT COALESCE(("status.name" = ?), FALSE))
      cql.allRecords=1                      | TRUE
      """)
  void translates(String query, String sql) {
    assertEquals(sql, condition(query).where());
  }

  @Test
  void bindsTermsInTheOrderOfTheQuestionMarks() {
    assertEquals(List.of("u", "Open", "Closed"),
        condition("userId==u and (status.name==Open or status.name==Closed)").parameters());
  }

  @Test
  void takesNothingFromATermIntoTheStatement() {
    CqlSql.Condition condition = condition("userId==\"x' OR 1=1 --\"");
    assertEquals("(\"userId\" = ?)", condition.where());
    assertEquals(List.of("x' OR 1=1 --"), condition.parameters());
  }

  @Test
  void takesOnlyStarAndQuestionMarkForWildcards() {
    assertEquals(List.of("100\\%\\_%_"), condition("userId==\"100%_*?\"").parameters());
  }

  @Test
  void sortsByIdUnlessAskedOtherwise() {
    assertEquals("id", condition("").orderBy());
    assertEquals("\"status.name\" DESC NULLS LAST, id", condition("sortBy status.name/sort.descending").orderBy());
  }

  @Test
  void refusesFieldsItDoesNotKnow() {
    CqlException e = assertThrows(CqlException.class, () -> condition("foo==1"));
    assertEquals("there is no field \"foo\" in loans; known fields are id, userId, status.name", e.getMessage());
    assertThrows(CqlException.class, () -> condition("userId==1 sortBy foo"));
  }
}
