// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.cql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.perflab.sample.cql.Cql.Combination;
import dev.perflab.sample.cql.Cql.Comparison;
import dev.perflab.sample.cql.Cql.Everything;
import dev.perflab.sample.cql.Cql.Node;
import dev.perflab.sample.cql.Cql.Operator;
import dev.perflab.sample.cql.Cql.Relation;
import dev.perflab.sample.cql.Cql.Sort;
import dev.perflab.sample.cql.Cql.Without;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class CqlTest {
  private static Node where(String text) {
    return Cql.parse(text).where();
  }

  private static Node is(String field, String... terms) {
    return new Comparison(field, Relation.EQUAL, List.of(terms));
  }

  private static Node both(Node left, Node right) {
    return new Combination(Operator.AND, left, right);
  }

  private static Node either(Node left, Node right) {
    return new Combination(Operator.OR, left, right);
  }

  @ParameterizedTest
  @ValueSource(strings = {"barcode==\"123\"", "barcode==123", "barcode=123", " ( barcode == 123 ) "})
  void readsAComparisonHoweverItIsWritten(String text) {
    assertEquals(is("barcode", "123"), where(text));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "  ", "cql.allRecords=1"})
  void readsTheAbsentQueryAsEverything(String text) {
    assertEquals(new Everything(), where(text));
  }

  @Test
  void readsTheRequestQueryOfTheCheckInPage() {
    assertEquals(
        both(is("itemId", "7a"), either(is("status", "Open - Awaiting pickup"), is("status", "Open - Awaiting delivery"))),
        where("(itemId==7a and (status==\"Open - Awaiting pickup\" or status==\"Open - Awaiting delivery\"))"));
  }

  @Test
  void readsTheAccountQueryOfTheCheckInPage() {
    assertEquals(
        both(both(is("userId", "u"), is("itemId", "i")), either(is("status.name", "Open"), is("status.name", "Closed"))),
        where("(userId==u and itemId==i) AND (status.name==\"Open\" OR status.name==\"Closed\")"));
  }

  @Test
  void readsTheLoanQueryOfTheCheckOutPage() {
    assertEquals(
        both(is("userId", "u"), new Comparison("status.name", Relation.NOT_EQUAL, List.of("Closed"))),
        where("(userId==u and status.name<>Closed)"));
  }

  @Test
  void readsTermListsAndSorting() {
    Cql.Query query = Cql.parse("(status==(\"NEW\" OR \"IN_PROGRESS\" OR \"LOADED\")) sortBy createdDate/sort.descending");
    assertEquals(is("status", "NEW", "IN_PROGRESS", "LOADED"), query.where());
    assertEquals(Optional.of(new Sort("createdDate", true)), query.sort());
  }

  @Test
  void bindsEquallyFromLeftToRight() {
    assertEquals(both(either(is("a", "1"), is("b", "2")), is("c", "3")), where("a==1 or b==2 and c==3"));
    assertEquals(new Without(is("a", "1"), is("b", "2")), where("a==1 not b==2"));
  }

  @Test
  void keepsWhatIsQuoted() {
    assertEquals(is("title", "a \"b\" \\ (c) and d==e"), where("title==\"a \\\"b\\\" \\\\ (c) and d==e\""));
    assertEquals(is("loanId", ""), where("loanId==\"\""));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      barcode                | expected ==, = or <> but found the end
      barcode==              | expected a term but found the end
      ==1                    | expected a field name or "(" but found "==" at position 1
      barcode==1 barcode==2  | expected and, or, not, sortBy or the end but found "barcode" at position 12
      (barcode==1            | expected ")" but found the end
      barcode>5              | expected ==, = or <> but found ">" at position 8
      barcode=="1            | the quotation mark at position 10 is never closed
      a==1 sortBy b/up       | cannot sort by "up"; use sort.ascending or sort.descending
      """)
  void saysWhatIsWrongAndWhere(String text, String message) {
    assertEquals(message, assertThrows(CqlException.class, () -> Cql.parse(text)).getMessage());
  }

  @Test
  void refusesEndlessParentheses() {
    String text = "(".repeat(10_000) + "a==1" + ")".repeat(10_000);
    assertThrows(CqlException.class, () -> Cql.parse(text));
  }
}
