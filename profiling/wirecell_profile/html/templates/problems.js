// SPDX-License-Identifier: Apache-2.0
"use strict";
// Notes errors of the page where a test can read them.

const problems = [];
function note(problem) {
  problems.push(String(problem));
  document.body.dataset.errors = problems.join(" | ");
}
window.addEventListener("error", (event) => note(event.message));
window.addEventListener("unhandledrejection", (event) => note(event.reason));
