// SPDX-License-Identifier: Apache-2.0
// Runs before the page exists, so that parts to be folded are not laid out first. If a later
// script fails, the page is as without scripts.
"use strict";
document.documentElement.classList.add("alive");
addEventListener("error", () => document.documentElement.classList.remove("alive"));
