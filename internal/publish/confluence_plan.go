// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/prose"
)

// ErrNotOurs means that PerfLab did not publish the existing content.
var ErrNotOurs = errors.New("it does not belong to this report")

// propertyKey is the key of our property of a page.
const propertyKey = "perflab-report"

// maxTitle is Confluence's limit, in characters.
const maxTitle = 255

// recordedPage is stored as a property of a page, to identify the page and its content.
type recordedPage struct {
	UID string `json:"uid"`
	// Page is its number: a copy of the page has the same property, but is not ours.
	Page string `json:"page"`
	// Digest of all published content, and the page's Version and Title at that time.
	Digest  string `json:"digest"`
	Version int    `json:"version"`
	Title   string `json:"title"`
	// Files are the names of the attachments.
	Files []string `json:"files"`
}

// Picture is a file attached to a page.
type Picture struct {
	Name, Kind string
	Body       []byte
}

// comment marks an attachment as ours, with its content.
func (p Picture) comment(uid string) string {
	sum := sha256.Sum256(p.Body)
	return "perflab " + uid + " sha256:" + hex.EncodeToString(sum[:])
}

// ourComment matches the comment of our attachments.
var ourComment = regexp.MustCompile(`^perflab [0-9A-Za-z-]+ sha256:[0-9a-f]{64}$`)

// Article is a report as a wiki page.
type Article struct {
	UID, Title, Body string
	// TitleChosen means that a user requested this title.
	TitleChosen bool
	Pictures    []Picture
}

// mark returns the page's label, which is also in its body.
func (a *Article) mark() string { return "perflab-" + strings.ToLower(a.UID) }

var (
	shownFiles = regexp.MustCompile(`<ri:attachment ri:filename="([^"]*)"`)
	plainUID   = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
	drawing    = regexp.MustCompile(`<svg [^>]*viewBox="0 -?[0-9.]+ ([0-9.]+) ([0-9.]+)"`)
)

// NewArticle returns the report with its charts, and its notes' pictures, as attachments. It
// fails if a chart would be lost.
func NewArticle(document *report.Report, title string) (*Article, error) {
	brief := document.Brief()
	uid, err := originUID(brief)
	if err != nil {
		return nil, err
	}
	article := &Article{UID: uid, Title: title, TitleChosen: title != ""}
	if title == "" {
		article.Title = defaultTitle(brief)
	}
	if utf8.RuneCountInString(article.Title) > maxTitle {
		return nil, fmt.Errorf("the title %q… exceeds Confluence's limit of %d characters: choose a shorter one with --title", string([]rune(article.Title)[:40]), maxTitle)
	}
	body, err := document.Confluence(true)
	if err != nil {
		return nil, err
	}
	// An anchor is invisible, and survives edits of the page.
	article.Body = string(body) + `<p><ac:structured-macro ac:name="anchor"><ac:parameter ac:name="">` + article.mark() + `</ac:parameter></ac:structured-macro></p>` + "\n"
	charts := document.Charts()
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		article.Pictures = append(article.Pictures, Picture{name, "image/svg+xml", withSize(charts[name])})
	}
	noted := document.Pictures()
	for _, name := range slices.Sorted(maps.Keys(noted)) {
		article.Pictures = append(article.Pictures, Picture{name, report.KindOfPicture(name), noted[name]})
	}
	slices.SortFunc(article.Pictures, func(a, b Picture) int { return strings.Compare(a.Name, b.Name) })
	return article, article.checkPictures()
}

// originUID returns the UID that identifies the published experiment. It validates the UID,
// because a file may contain any text, and the text is published.
func originUID(brief report.Brief) (string, error) {
	uid := string(brief.Origin.UID)
	if !plainUID.MatchString(uid) {
		return "", fmt.Errorf("%w: experiment %q has no UID, which identifies the published report: publish it from its cluster, or from the output of perflab export", report.ErrInput, brief.Origin.Name)
	}
	return uid, nil
}

// defaultTitle distinguishes experiments with the same question.
func defaultTitle(brief report.Brief) string {
	name := " (" + brief.Origin.Name + ")"
	question := []rune(strings.Join(strings.Fields(brief.Title), " "))
	if room := maxTitle - utf8.RuneCountInString(name); len(question) > room {
		question = append(question[:room-1], '…')
	}
	return string(question) + name
}

// withSize adds its size to a drawing: without one, Confluence shows it in any size.
func withSize(svg []byte) []byte {
	return drawing.ReplaceAllFunc(svg, func(head []byte) []byte {
		size := drawing.FindSubmatch(head)
		return fmt.Appendf(head, ` width="%s" height="%s"`, size[1], size[2])
	})
}

// checkPictures checks that all shown pictures are attached, and all attached ones are shown.
func (a *Article) checkPictures() error {
	var shown, attached []string
	for _, found := range shownFiles.FindAllStringSubmatch(a.Body, -1) {
		shown = append(shown, html.UnescapeString(found[1]))
	}
	for _, one := range a.Pictures {
		attached = append(attached, one.Name)
	}
	slices.Sort(shown)
	if shown = slices.Compact(shown); !slices.Equal(shown, attached) {
		return fmt.Errorf("a chart would be lost: the page shows %s, but the charts are %s", strings.Join(shown, ", "), strings.Join(attached, ", "))
	}
	return nil
}

// digest returns the digest of all published content.
func (a *Article) digest() string {
	all := fmt.Appendf(nil, "%d\n%s", len(a.Body), a.Body)
	for _, one := range a.Pictures {
		all = fmt.Appendf(all, "%q %s\n", one.Name, one.comment(a.UID))
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

// observedPage is an existing page.
type observedPage struct {
	page        *page
	property    *property
	recorded    recordedPage
	attachments []attachment
	labels      []label
}

// isOurs reports whether we created the page for this experiment. If the publication was
// interrupted before the record, the page has the mark and the title.
func (o *observedPage) isOurs(a *Article) bool {
	if o.property != nil {
		return o.recorded.UID == a.UID && o.recorded.Page == o.page.ID
	}
	return o.page.Title == a.Title && strings.Contains(o.page.Body.Storage.Value, ">"+a.mark()+"<")
}

// PagePlan is the planned changes of a page.
type PagePlan struct {
	article *Article
	// before is nil if there is no page yet.
	before *observedPage
	title  string
	upload []Picture
	remove []attachment
	// write means that the page itself is written, label that its label is added.
	write, label bool
	notes        []string
}

// isUnchanged reports whether there is nothing to write.
func (p *PagePlan) isUnchanged() bool {
	return p.before != nil && !p.write && !p.label && len(p.upload) == 0 && len(p.remove) == 0
}

// planPage plans what to write, from the article and the existing page.
func planPage(a *Article, before *observedPage) (*PagePlan, error) {
	plan := &PagePlan{article: a, before: before, title: a.Title, write: true, label: true, upload: a.Pictures}
	if before == nil {
		return plan, nil
	}
	last := before.recorded
	// A renamed page keeps its title.
	if !a.TitleChosen && before.page.Title != last.Title && last.Title != "" {
		plan.title = before.page.Title
	}
	plan.write = last.Digest != a.digest() || plan.title != before.page.Title
	plan.label = !slices.ContainsFunc(before.labels, func(l label) bool { return l.Name == a.mark() })
	var err error
	if plan.upload, err = missingPictures(a, before); err != nil {
		return nil, err
	}
	plan.remove = obsoleteAttachments(a, before)
	if plan.write && last.Version > 0 && before.page.Version.Number > last.Version && last.Digest != a.digest() {
		plan.notes = append(plan.notes, fmt.Sprintf("changes made to the page since version %d are now only in its history", last.Version))
	}
	return plan, nil
}

// missingPictures returns the pictures that are not attached, or with other content.
func missingPictures(a *Article, before *observedPage) ([]Picture, error) {
	var upload []Picture
	for _, one := range a.Pictures {
		at := slices.IndexFunc(before.attachments, func(found attachment) bool { return found.Title == one.Name })
		switch {
		case at >= 0 && before.attachments[at].Comment == one.comment(a.UID):
			continue
		case at >= 0 && !isOwnAttachment(before, before.attachments[at]):
			return nil, fmt.Errorf("%w: %s is attached to the page, but a chart of the report has the same name: delete or rename that attachment", ErrNotOurs, one.Name)
		}
		upload = append(upload, one)
	}
	return upload, nil
}

// isOwnAttachment reports whether we attached a file, even if a user attached a new version.
func isOwnAttachment(before *observedPage, one attachment) bool {
	return ourComment.MatchString(one.Comment) || slices.Contains(before.recorded.Files, one.Title)
}

// obsoleteAttachments returns the attachments of an earlier report that this one does not show,
// without those that a user attached or changed.
func obsoleteAttachments(a *Article, before *observedPage) []attachment {
	var left []attachment
	for _, one := range before.attachments {
		isShown := slices.ContainsFunc(a.Pictures, func(shown Picture) bool { return shown.Name == one.Title })
		if !isShown && ourComment.MatchString(one.Comment) {
			left = append(left, one)
		}
	}
	return left
}

// record returns the record of the page after the plan is applied.
func (p *PagePlan) record(written *page) recordedPage {
	kept := recordedPage{UID: p.article.UID, Page: written.ID, Digest: p.article.digest(), Version: written.Version.Number, Title: p.title}
	if p.before != nil && !p.write {
		kept.Version, kept.Title = p.before.recorded.Version, p.before.recorded.Title
	}
	for _, one := range p.article.Pictures {
		kept.Files = append(kept.Files, one.Name)
	}
	return kept
}

// Describe describes what was done, or would be.
func (p *PagePlan) Describe(where string, dryRun bool) string {
	if p.isUnchanged() {
		return fmt.Sprintf("page %q is up to date: nothing was written%s", p.title, location(where))
	}
	is, are := "is", "are"
	if dryRun {
		is, are = "would be", "would be"
	}
	parts := []string{fmt.Sprintf("page %q %s updated", p.title, is)}
	switch {
	case p.before == nil:
		parts[0] = fmt.Sprintf("page %q %s created", p.title, is)
	case !p.write:
		parts[0] = fmt.Sprintf("the text of page %q is unchanged", p.title)
	}
	if number := len(p.upload); number > 0 {
		parts = append(parts, fmt.Sprintf("%s %s uploaded", prose.Counted(number, "chart"), prose.Verb(number, is, are)))
	}
	if number := len(p.remove); number > 0 {
		parts = append(parts, fmt.Sprintf("%s of an earlier report %s deleted", prose.Counted(number, "chart"), prose.Verb(number, is, are)))
	}
	return strings.Join(append(parts, p.notes...), "; ") + location(where)
}

func location(where string) string {
	if where == "" {
		return ""
	}
	return ": " + where
}

// decodeRecord decodes a property. Invalid content is ignored.
func decodeRecord(of *property) recordedPage {
	var kept recordedPage
	if of == nil || json.Unmarshal(of.Value, &kept) != nil {
		return recordedPage{}
	}
	return kept
}
