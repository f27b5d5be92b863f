// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.cql;

import dev.perflab.sample.cql.Cql.Combination;
import dev.perflab.sample.cql.Cql.Comparison;
import dev.perflab.sample.cql.Cql.Everything;
import dev.perflab.sample.cql.Cql.Node;
import dev.perflab.sample.cql.Cql.Operator;
import dev.perflab.sample.cql.Cql.Query;
import dev.perflab.sample.cql.Cql.Relation;
import dev.perflab.sample.cql.Cql.Sort;
import dev.perflab.sample.cql.Cql.Without;
import dev.perflab.sample.cql.CqlTokens.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A recursive descent parser over {@link CqlTokens}. As in the standard, {@code and}, {@code or}
 * and {@code not} have the same precedence and are evaluated from left to right.
 */
final class CqlParser {
  private static final int MAX_DEPTH = 50;

  private final List<Token> tokens;
  private int at;
  private int depth;

  CqlParser(String text) {
    tokens = CqlTokens.of(text);
  }

  Query query() {
    Node where = peek().isWord("sortby") ? new Everything() : condition();
    Optional<Sort> sort = peek().isWord("sortby") ? Optional.of(sort()) : Optional.empty();
    if (peek().kind() != CqlTokens.Kind.END) {
      throw unexpected("and, or, not, sortBy or the end");
    }
    return new Query(where, sort);
  }

  private Node condition() {
    Node left = clause();
    while (true) {
      if (peek().isWord("and")) {
        take();
        left = new Combination(Operator.AND, left, clause());
      } else if (peek().isWord("or")) {
        take();
        left = new Combination(Operator.OR, left, clause());
      } else if (peek().isWord("not")) {
        take();
        left = new Without(left, clause());
      } else {
        return left;
      }
    }
  }

  private Node clause() {
    if (!peek().isSymbol("(")) {
      return comparison();
    }
    take();
    deeper();
    Node inner = condition();
    depth--;
    expectClosing();
    return inner;
  }

  private Node comparison() {
    if (peek().kind() != CqlTokens.Kind.WORD) {
      throw unexpected("a field name or \"(\"");
    }
    String field = take().text();
    Relation relation = relation();
    List<String> terms = peek().isSymbol("(") ? termList() : List.of(term());
    if (field.equalsIgnoreCase("cql.allRecords")) {
      return new Everything();
    }
    return new Comparison(field, relation, terms);
  }

  private Relation relation() {
    Token token = peek();
    if (token.isSymbol("==") || token.isSymbol("=")) {
      take();
      return Relation.EQUAL;
    }
    if (token.isSymbol("<>")) {
      take();
      return Relation.NOT_EQUAL;
    }
    throw unexpected("==, = or <>");
  }

  private List<String> termList() {
    take();
    List<String> terms = new ArrayList<>(List.of(term()));
    while (peek().isWord("or")) {
      take();
      terms.add(term());
    }
    expectClosing();
    return terms;
  }

  private String term() {
    if (!peek().isTerm()) {
      throw unexpected("a term");
    }
    return take().text();
  }

  private Sort sort() {
    take();
    String field = term();
    if (!peek().isSymbol("/")) {
      return new Sort(field, false);
    }
    take();
    String direction = term();
    return switch (direction.toLowerCase()) {
      case "sort.ascending" -> new Sort(field, false);
      case "sort.descending" -> new Sort(field, true);
      default -> throw new CqlException(
          "cannot sort by \"" + direction + "\"; use sort.ascending or sort.descending");
    };
  }

  private void deeper() {
    if (++depth > MAX_DEPTH) {
      throw new CqlException("more than " + MAX_DEPTH + " parentheses inside each other");
    }
  }

  private void expectClosing() {
    if (!peek().isSymbol(")")) {
      throw unexpected("\")\"");
    }
    take();
  }

  private Token peek() {
    return tokens.get(at);
  }

  private Token take() {
    Token token = tokens.get(at);
    if (at < tokens.size() - 1) {
      at++;
    }
    return token;
  }

  private CqlException unexpected(String expected) {
    return new CqlException("expected " + expected + " but found " + peek().described());
  }
}
