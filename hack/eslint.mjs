// SPDX-License-Identifier: Apache-2.0
// node hack/eslint.mjs LINTER FILE...: runs ESLint on scripts of a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [library, ...files] = process.argv.slice(2);
const { Linter } = createRequire(import.meta.url)(resolve(library));

const globals = Object.fromEntries(
  ["CSS", "Intl", "IntersectionObserver", "ResizeObserver", "addEventListener", "devicePixelRatio", "document", "getComputedStyle", "location", "matchMedia", "uPlot"].map((name) => [name, "readonly"]),
);

// Rules for errors, not for style.
const rules = Object.fromEntries(
  [
    "array-callback-return", "complexity", "consistent-return", "default-case-last", "eqeqeq", "for-direction", "getter-return", "no-async-promise-executor",
    "no-caller", "no-class-assign", "no-compare-neg-zero", "no-cond-assign", "no-const-assign", "no-constant-condition", "no-constructor-return", "no-control-regex",
    "no-debugger", "no-dupe-args", "no-dupe-class-members", "no-dupe-else-if", "no-dupe-keys", "no-duplicate-case", "no-empty", "no-empty-character-class",
    "no-empty-pattern", "no-eval", "no-ex-assign", "no-extend-native", "no-fallthrough", "no-func-assign", "no-global-assign", "no-implicit-globals", "no-implied-eval",
    "no-inner-declarations", "no-invalid-regexp", "no-irregular-whitespace", "no-loss-of-precision", "no-misleading-character-class", "no-new-func",
    "no-obj-calls", "no-param-reassign", "no-prototype-builtins", "no-redeclare", "no-self-assign", "no-self-compare", "no-setter-return", "no-shadow",
    "no-sparse-arrays", "no-template-curly-in-string", "no-this-before-super", "no-undef", "no-unexpected-multiline", "no-unreachable", "no-unsafe-finally",
    "no-unsafe-negation", "no-unsafe-optional-chaining", "no-unused-expressions", "no-unused-labels", "no-unused-private-class-members", "no-unused-vars",
    "no-use-before-define", "no-useless-catch", "no-useless-escape", "no-useless-rename", "no-useless-return", "no-var", "no-with", "prefer-const", "require-yield", "strict", "use-isnan", "valid-typeof",
  ].map((rule) => [rule, "error"]),
);
Object.assign(rules, {
  complexity: ["error", 12],
  eqeqeq: ["error", "always", { null: "ignore" }],
  "max-lines-per-function": ["error", { max: 35, skipBlankLines: true, skipComments: true, IIFEs: false }],
  strict: ["error", "global"],
});

const linter = new Linter();
const config = { languageOptions: { ecmaVersion: 2023, sourceType: "script", globals }, linterOptions: { reportUnusedDisableDirectives: "error" }, rules };
let found = 0;
for (const file of files) {
  for (const { line, column, message, ruleId } of linter.verify(readFileSync(file, "utf8"), config, file)) {
    console.error(`${file}:${line}:${column}: ${message} (${ruleId})`);
    found++;
  }
}
process.exitCode = found > 0 ? 1 : 0;
