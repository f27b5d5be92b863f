// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import static dev.perflab.sample.gateway.Tokens.Kind.ACCESS;
import static dev.perflab.sample.gateway.Tokens.Kind.REFRESH;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest {
  private final Tokens tokens = new Tokens("secret", "diku");

  @Test
  void acceptsWhatAReplicaWithTheSameSecretIssued() {
    assertTrue(new Tokens("secret", "diku").valid(ACCESS, tokens.issue(ACCESS, "admin", null)));
    assertTrue(tokens.valid(ACCESS, tokens.issue(ACCESS, "admin", Instant.now().plusSeconds(60))));
  }

  @Test
  void refusesOtherSecretsOtherTenantsAndThePast() {
    assertFalse(new Tokens("another", "diku").valid(ACCESS, tokens.issue(ACCESS, "admin", null)));
    assertFalse(new Tokens("secret", "other").valid(ACCESS, tokens.issue(ACCESS, "admin", null)));
    assertFalse(tokens.valid(ACCESS, tokens.issue(ACCESS, "admin", Instant.now().minusSeconds(1))));
  }

  @Test
  void takesATokenForNothingElseThanItIsFor() {
    assertFalse(tokens.valid(ACCESS, tokens.issue(REFRESH, "admin", Instant.now().plusSeconds(60))));
    assertFalse(tokens.valid(REFRESH, tokens.issue(ACCESS, "admin", null)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a.b.c", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.?"})
  void refusesWhatIsNoToken(String token) {
    assertFalse(tokens.valid(ACCESS, token));
  }

  @Test
  void refusesAChangedToken() {
    String token = tokens.issue(ACCESS, "admin", null);
    char last = token.charAt(10) == 'A' ? 'B' : 'A';
    assertFalse(tokens.valid(ACCESS, token.substring(0, 40) + last + token.substring(41)));
  }
}
