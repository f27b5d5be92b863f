// SPDX-License-Identifier: AGPL-3.0-only

// Empty: with it the compiler accepts a function that is linked from elsewhere.
