// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/report"
)

const (
	// gitHubAPI is the default of GITHUB_API_URL.
	gitHubAPI = "https://api.github.com"
	// commentsPage and maxPages bound how many comments are searched.
	commentsPage, maxPages = 100, 100
	// maxComment is GitHub's limit of a comment, in characters; maxSummary that of a
	// step's summary, in bytes.
	maxComment, maxSummary = 65536, 1 << 20
)

var (
	// ErrThread means that the reference to an issue or pull request is invalid.
	ErrThread = errors.New("write --github OWNER/REPOSITORY#NUMBER, the number of an issue or a pull request")
	// ErrLink means that the URL of the whole report is invalid.
	ErrLink    = errors.New("write --link https://HOST/PATH, the address of the full report")
	errTooLong = fmt.Errorf("%w: the summary is too long", ErrServer)
	thread     = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})#([1-9][0-9]{0,8})$`)
)

// Thread is an issue or a pull request.
type Thread struct {
	owner, repository string
	number            int
}

// ParseThread reads OWNER/REPOSITORY#NUMBER. It fails with ErrThread.
func ParseThread(text string) (Thread, error) {
	parts := thread.FindStringSubmatch(text)
	if parts == nil || parts[2] == "." || parts[2] == ".." {
		return Thread{}, ErrThread
	}
	number, err := strconv.Atoi(parts[3])
	if err != nil {
		return Thread{}, ErrThread
	}
	return Thread{owner: parts[1], repository: parts[2], number: number}, nil
}

func (t Thread) String() string { return fmt.Sprintf("%s/%s#%d", t.owner, t.repository, t.number) }

func (t Thread) path(rest ...string) string {
	return strings.Join(append([]string{"repos", t.owner, t.repository, "issues"}, rest...), "/")
}

// Note is a summary of the report with the mark of its experiment.
type Note struct {
	// mark begins the comment, and is invisible.
	mark string
	// Body is Markdown.
	Body string
}

// NewNote summarizes a report; the link to the whole report may be empty. It fails
// if the summary exceeds the limit of a comment.
func NewNote(document *report.Report, link string) (Note, error) {
	brief := document.Brief()
	uid, err := originUID(brief)
	if err != nil {
		return Note{}, err
	}
	note := Note{mark: fmt.Sprintf("<!-- perflab %s -->", uid)}
	note.Body = note.mark + "\n" + brief.Markdown()
	if link != "" {
		to, err := url.Parse(link)
		if err != nil || to.Scheme != "https" && to.Scheme != "http" || to.Host == "" {
			return Note{}, ErrLink
		}
		note.Body += fmt.Sprintf("\n[Full report](<%s>)\n", to.String())
	}
	if size := len([]rune(note.Body)); size > maxComment {
		return Note{}, fmt.Errorf("%w: it has %d characters, but a comment may have %d", errTooLong, size, maxComment)
	}
	return note, nil
}

// GitHub is a client of its API, as one user.
type GitHub struct{ client *client }

// NewGitHub rejects an address to which the token would be sent unencrypted. An empty
// address is GitHub's own.
func NewGitHub(address, token string) (*GitHub, error) {
	made, err := newClient(cmp.Or(address, gitHubAPI), "Bearer "+token, token)
	if err != nil {
		return nil, err
	}
	made.headers = map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
	return &GitHub{made}, nil
}

// threadComment is a comment in GitHub's responses.
type threadComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	Page string `json:"html_url"`
}

// Comment creates the comment of an experiment, or updates the existing one, and describes
// what was done.
func (g *GitHub) Comment(ctx context.Context, on Thread, note Note, dryRun bool) (string, error) {
	before, err := g.find(ctx, on, note.mark)
	if err != nil {
		return "", err
	}
	method, path, done := http.MethodPost, on.path(strconv.Itoa(on.number), "comments"), "added a comment to "+on.String()
	if before != nil {
		// GitHub may return other line endings.
		if strings.ReplaceAll(before.Body, "\r\n", "\n") == note.Body {
			return fmt.Sprintf("%s is up to date: nothing was written", before.Page), nil
		}
		method, path, done = http.MethodPatch, on.path("comments", strconv.FormatInt(before.ID, 10)), "updated the comment"
	}
	if dryRun {
		return "would have " + done, nil
	}
	var written threadComment
	if err := g.client.json(ctx, request{method: method, path: path}, map[string]string{"body": note.Body}, &written); err != nil {
		return "", g.wrapError(err, on)
	}
	return fmt.Sprintf("%s: %s", written.Page, done), nil
}

// find returns the comment that begins with the mark; nil if there is none.
func (g *GitHub) find(ctx context.Context, on Thread, mark string) (*threadComment, error) {
	for page := 1; page <= maxPages; page++ {
		var listed []threadComment
		list := request{method: http.MethodGet, path: on.path(strconv.Itoa(on.number), "comments"), query: url.Values{
			"per_page": {strconv.Itoa(commentsPage)}, "page": {strconv.Itoa(page)},
		}}
		if err := g.client.json(ctx, list, nil, &listed); err != nil {
			return nil, g.wrapError(err, on)
		}
		for _, one := range listed {
			if strings.HasPrefix(one.Body, mark) {
				return &one, nil
			}
		}
		if len(listed) < commentsPage {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%w: %s has more than %d comments", ErrServer, on, commentsPage*maxPages)
}

// wrapError adds the most likely cause of an error status.
func (g *GitHub) wrapError(err error, on Thread) error {
	switch {
	case isStatus(err, http.StatusNotFound):
		return fmt.Errorf("%w; %s does not exist, or GITHUB_TOKEN can't read it", err, on)
	case isStatus(err, http.StatusUnauthorized), isStatus(err, http.StatusForbidden):
		return fmt.Errorf("%w; GITHUB_TOKEN needs the right to write issues and pull requests of %s/%s", err, on.owner, on.repository)
	}
	return err
}

// AppendSummary appends the note to the file with the summary of a GitHub Actions step. It
// does not append the same note twice.
func AppendSummary(path string, note Note, dryRun bool) (string, error) {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the step's summary: %w", err)
	}
	if strings.Contains(string(before), note.Body) {
		return "the step's summary is up to date: nothing was written", nil
	}
	if len(before)+len(note.Body) > maxSummary {
		return "", fmt.Errorf("%w: with it, the step's summary exceeds %d KiB", errTooLong, maxSummary>>10)
	}
	if dryRun {
		return "it would be added to the step's summary", nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return "", fmt.Errorf("opening the step's summary: %w", err)
	}
	_, err = file.WriteString(note.Body + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("writing the step's summary: %w", err)
	}
	return "it was added to the step's summary", nil
}
