// SPDX-License-Identifier: Apache-2.0

// Package publish publishes reports: into a folder as a static site, onto a page of Confluence
// Cloud, into a comment or a job's summary on GitHub.
//
// Pure functions plan the changes from the report and the published state; clients apply them.
// Publishing the same report again writes nothing. Everything published has the experiment's
// UID, so that it is found again and pages of others are never overwritten.
package publish
