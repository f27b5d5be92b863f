// SPDX-License-Identifier: Apache-2.0

// Package publish puts reports where people read them: into a folder as a static
// site, onto a page of Confluence Cloud, into a comment or a job's summary on GitHub.
//
// What is to be written is planned by pure functions from the report and from what
// is already there; clients only carry it out. Publishing the same report again
// writes nothing. Everything that was published bears the experiment's UID, so that
// it is found again and nobody else's is overwritten.
package publish
