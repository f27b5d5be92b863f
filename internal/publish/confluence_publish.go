// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"
	"slices"
)

// Location is where pages are published, and which writes are allowed.
type Location struct {
	// Space is a key; Parent is the title or number of the parent of new pages.
	Space, Parent string
	// Adopt allows overwriting a page that PerfLab did not publish.
	Adopt bool
	// DryRun writes nothing.
	DryRun bool
}

// Publish writes the article to its page, and describes what was done.
func (c *Confluence) Publish(ctx context.Context, a *Article, on Location) (string, error) {
	in, err := c.space(ctx, on.Space)
	if err != nil {
		return "", err
	}
	parent, err := c.parent(ctx, in, on.Parent)
	if err != nil {
		return "", err
	}
	before, err := c.find(ctx, a, in, on.Adopt)
	if err != nil {
		return "", err
	}
	plan, err := planPage(a, before)
	if err != nil {
		return "", err
	}
	if before != nil && (on.DryRun || plan.isUnchanged()) {
		return plan.Describe(before.page.address(), on.DryRun), nil
	}
	if on.DryRun {
		return plan.Describe("", true), nil
	}
	written, err := c.apply(ctx, plan, newPage{SpaceID: in.ID, Status: statusCurrent, Title: plan.title, ParentID: parent, Body: storage(a.Body)})
	if err != nil {
		return "", err
	}
	return plan.Describe(written.address(), false), nil
}

func (p *page) address() string {
	if p.Links.Base == "" {
		return ""
	}
	return p.Links.Base + p.Links.WebUI
}

// find returns the page of the experiment: one with its label, or the one with its title. It
// returns nil if there is none.
func (c *Confluence) find(ctx context.Context, a *Article, in *space, adopt bool) (*observedPage, error) {
	labelled, err := c.pagesWithLabel(ctx, in, a.mark())
	if err != nil {
		return nil, err
	}
	slices.Sort(labelled)
	for _, id := range labelled {
		found, err := c.page(ctx, id)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		seen, err := c.observe(ctx, found)
		if err != nil || seen.isOurs(a) {
			return seen, err
		}
	}
	same, err := c.pageByTitle(ctx, in, a.Title)
	if err != nil || same == nil {
		return nil, err
	}
	seen, err := c.observe(ctx, same)
	if err != nil || seen.isOurs(a) {
		return seen, err
	}
	if !adopt {
		return nil, fmt.Errorf("%w: there is a page %q in space %s (%s): choose another title with --title, or overwrite that page with --adopt; its history keeps its content", ErrNotOurs, a.Title, in.Key, same.address())
	}
	// The property is of another report.
	seen.recorded = recordedPage{}
	return seen, nil
}

// observe reads the property, attachments and labels of a page.
func (c *Confluence) observe(ctx context.Context, found *page) (*observedPage, error) {
	seen := &observedPage{page: found}
	var err error
	if seen.property, err = c.property(ctx, found); err != nil {
		return nil, err
	}
	seen.recorded = decodeRecord(seen.property)
	if seen.attachments, err = c.attachments(ctx, found); err != nil {
		return nil, err
	}
	seen.labels, err = c.labels(ctx, found)
	return seen, err
}

// withPatience is for a recently created page that not all endpoints have yet.
func (c *Confluence) withPatience() *Confluence {
	patient := *c.client
	patient.patient = true
	return &Confluence{&patient}
}

// apply executes a plan. Attachments are uploaded before the page and obsolete ones deleted
// after it; the record is written last, so that an interrupted publication resumes.
func (c *Confluence) apply(ctx context.Context, plan *PagePlan, made newPage) (*page, error) {
	var written *page
	var recorded *property
	var err error
	if plan.before == nil {
		if written, err = c.create(ctx, made); err != nil {
			return nil, err
		}
		c = c.withPatience()
	} else {
		written, recorded = plan.before.page, plan.before.property
	}
	if plan.label {
		if err := c.addLabel(ctx, written.ID, plan.article.mark()); err != nil {
			return nil, err
		}
	}
	for _, one := range plan.upload {
		if err := c.upload(ctx, written.ID, one, one.comment(plan.article.UID)); err != nil {
			return nil, err
		}
	}
	if plan.before != nil && plan.write {
		next := nextPage{written.ID, statusCurrent, plan.title, made.Body, pageVersion{written.Version.Number + 1, "perflab publish"}}
		if written, err = c.update(ctx, next); err != nil {
			return nil, err
		}
	}
	for _, one := range plan.remove {
		if err := c.remove(ctx, one); err != nil {
			return nil, err
		}
	}
	return written, c.record(ctx, written.ID, recorded, plan.record(written))
}
