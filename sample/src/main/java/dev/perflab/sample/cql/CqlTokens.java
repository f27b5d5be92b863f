// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.cql;

import java.util.ArrayList;
import java.util.List;

/** Splits a query into words, quoted terms and symbols. */
final class CqlTokens {
  enum Kind { WORD, QUOTED, SYMBOL, END }

  record Token(Kind kind, String text, int position) {
    boolean isSymbol(String symbol) {
      return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isWord(String word) {
      return kind == Kind.WORD && text.equalsIgnoreCase(word);
    }

    boolean isTerm() {
      return kind == Kind.WORD || kind == Kind.QUOTED;
    }

    String described() {
      return kind == Kind.END ? "the end" : "\"" + text + "\" at position " + (position + 1);
    }
  }

  private static final String SYMBOL_CHARACTERS = "=<>()/";
  /** The longest symbols come first, so that "==" is not read as two "=". */
  private static final List<String> SYMBOLS = List.of("==", "<>", "<=", ">=", "=", "<", ">", "(", ")", "/");

  private final String text;
  private final List<Token> tokens = new ArrayList<>();
  private int at;

  private CqlTokens(String text) {
    this.text = text;
  }

  static List<Token> of(String text) {
    CqlTokens cutter = new CqlTokens(text);
    while (cutter.at < text.length()) {
      cutter.next();
    }
    cutter.tokens.add(new Token(Kind.END, "", text.length()));
    return cutter.tokens;
  }

  private void next() {
    char c = text.charAt(at);
    if (Character.isWhitespace(c)) {
      at++;
    } else if (c == '"') {
      quoted();
    } else if (SYMBOL_CHARACTERS.indexOf(c) >= 0) {
      symbol();
    } else {
      word();
    }
  }

  private void symbol() {
    String symbol = SYMBOLS.stream().filter(s -> text.startsWith(s, at)).findFirst().orElseThrow();
    tokens.add(new Token(Kind.SYMBOL, symbol, at));
    at += symbol.length();
  }

  private void word() {
    int start = at;
    while (at < text.length() && isWordCharacter(text.charAt(at))) {
      at++;
    }
    tokens.add(new Token(Kind.WORD, text.substring(start, at), start));
  }

  private static boolean isWordCharacter(char c) {
    return !Character.isWhitespace(c) && c != '"' && SYMBOL_CHARACTERS.indexOf(c) < 0;
  }

  private void quoted() {
    int start = at++;
    StringBuilder term = new StringBuilder();
    while (at < text.length() && text.charAt(at) != '"') {
      if (text.charAt(at) == '\\' && at + 1 < text.length()) {
        at++;
      }
      term.append(text.charAt(at++));
    }
    if (at >= text.length()) {
      throw new CqlException("the quotation mark at position " + (start + 1) + " is never closed");
    }
    at++;
    tokens.add(new Token(Kind.QUOTED, term.toString(), start));
  }
}
