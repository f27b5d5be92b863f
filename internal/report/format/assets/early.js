// SPDX-License-Identifier: Apache-2.0
// Runs before the page is there, so that what will be folded is not laid out first.
// Where anything goes wrong later, the page is as without scripts.
"use strict";
document.documentElement.classList.add("alive");
addEventListener("error", () => document.documentElement.classList.remove("alive"));
