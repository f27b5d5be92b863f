// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// Confluence is a site of Confluence Cloud. It uses REST API v2
// (https://developer.atlassian.com/cloud/confluence/rest/v2/), and v1 for uploading
// attachments, adding labels and searching content, which v2 does not support.
type Confluence struct{ *client }

// Paths of both versions.
const (
	v2 = "/wiki/api/v2"
	v1 = "/wiki/rest/api"
)

// listed is the maximum page size of a response.
const listed = "250"

// NewConfluence returns a client of a site; without a user the token is one of OAuth.
func NewConfluence(address, user, token string) (*Confluence, error) {
	plain := user + ":" + token
	authorization := "Basic " + base64.StdEncoding.EncodeToString([]byte(plain))
	if user == "" {
		authorization = "Bearer " + token
	}
	made, err := newClient(strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/wiki"), authorization,
		token, base64.StdEncoding.EncodeToString([]byte(plain)))
	if err != nil {
		return nil, err
	}
	return &Confluence{made}, nil
}

// The needed fields of Confluence's responses.
type (
	space struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	page struct {
		ID      string `json:"id"`
		Status  string `json:"status"`
		Title   string `json:"title"`
		SpaceID string `json:"spaceId"`
		Version struct {
			Number int `json:"number"`
		} `json:"version"`
		Body struct {
			Storage struct {
				Value string `json:"value"`
			} `json:"storage"`
		} `json:"body"`
		Links struct {
			Base  string `json:"base"`
			WebUI string `json:"webui"`
		} `json:"_links"`
	}
	attachment struct {
		ID      string `json:"id"`
		Title   string `json:"title"`
		Comment string `json:"comment"`
	}
	property struct {
		ID      string          `json:"id"`
		Key     string          `json:"key"`
		Value   json.RawMessage `json:"value"`
		Version struct {
			Number int `json:"number"`
		} `json:"version"`
	}
	label struct {
		Name string `json:"name"`
	}
)

// Bodies of requests to Confluence.
type (
	storageBody struct {
		Representation string `json:"representation"`
		Value          string `json:"value"`
	}
	newPage struct {
		SpaceID  string      `json:"spaceId"`
		Status   string      `json:"status"`
		Title    string      `json:"title"`
		ParentID string      `json:"parentId,omitempty"`
		Body     storageBody `json:"body"`
	}
	pageVersion struct {
		Number  int    `json:"number"`
		Message string `json:"message,omitempty"`
	}
	nextPage struct {
		ID      string      `json:"id"`
		Status  string      `json:"status"`
		Title   string      `json:"title"`
		Body    storageBody `json:"body"`
		Version pageVersion `json:"version"`
	}
	writtenProperty struct {
		Key     string       `json:"key"`
		Value   any          `json:"value"`
		Version *pageVersion `json:"version,omitempty"`
	}
	writtenLabel struct {
		Prefix string `json:"prefix"`
		Name   string `json:"name"`
	}
)

// statusCurrent is the status of a page that is no draft, not archived and not in the trash.
const statusCurrent = "current"

func storage(body string) storageBody { return storageBody{"storage", body} }

// listAll reads all pages of a list of v2.
func listAll[T any](ctx context.Context, c *Confluence, path string, query url.Values) ([]T, error) {
	var all []T
	for {
		var answer struct {
			Results []T `json:"results"`
			Links   struct {
				Next string `json:"next"`
			} `json:"_links"`
		}
		if err := c.json(ctx, request{method: http.MethodGet, path: v2 + path, query: query}, nil, &answer); err != nil {
			return nil, err
		}
		all = append(all, answer.Results...)
		// Only the cursor of the next address is used: the login is sent nowhere else.
		next, err := url.Parse(answer.Links.Next)
		if err != nil {
			return nil, fmt.Errorf("%w: GET %s: the address of its next page is invalid", ErrServer, path)
		}
		cursor := next.Query().Get("cursor")
		if cursor == "" || cursor == query.Get("cursor") {
			return all, nil
		}
		query.Set("cursor", cursor)
	}
}

func (c *Confluence) space(ctx context.Context, key string) (*space, error) {
	found, err := listAll[space](ctx, c, "/spaces", url.Values{"keys": {key}, "limit": {listed}})
	if err != nil {
		return nil, err
	}
	for i := range found {
		if strings.EqualFold(found[i].Key, key) {
			return &found[i], nil
		}
	}
	return nil, fmt.Errorf("%w: there is no space %q, or the login can't view it: a space's key is in the address of its pages, after /spaces/", ErrServer, key)
}

// pageByTitle returns the page with this title; nil if there is none.
func (c *Confluence) pageByTitle(ctx context.Context, in *space, title string) (*page, error) {
	found, err := listAll[page](ctx, c, "/pages", url.Values{
		"space-id": {in.ID}, "title": {title}, "status": {statusCurrent}, "body-format": {"storage"}, "limit": {listed},
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// page returns a page by its number; nil if none is readable.
func (c *Confluence) page(ctx context.Context, id string) (*page, error) {
	found := &page{}
	err := c.json(ctx, request{method: http.MethodGet, path: v2 + "/pages/" + id, query: url.Values{"body-format": {"storage"}}}, nil, found)
	if isStatus(err, http.StatusNotFound) || err == nil && found.Status != statusCurrent {
		return nil, nil
	}
	return found, err
}

// parent returns the parent of new pages, by its number or its title.
func (c *Confluence) parent(ctx context.Context, in *space, named string) (string, error) {
	if named == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(named, 10, 64); err == nil {
		found, err := c.page(ctx, named)
		if err != nil {
			return "", err
		}
		if found != nil && found.SpaceID == in.ID {
			return found.ID, nil
		}
	}
	found, err := c.pageByTitle(ctx, in, named)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", fmt.Errorf("%w: there is no page %q in space %s to publish the report under: set --parent to the title of a page, or to the number in its address", ErrServer, named, in.Key)
	}
	return found.ID, nil
}

// pagesWithLabel returns the IDs of the pages with a label. The site's search indexes labels
// with a delay.
func (c *Confluence) pagesWithLabel(ctx context.Context, in *space, name string) ([]string, error) {
	var answer struct {
		Results []struct {
			Content struct {
				ID string `json:"id"`
			} `json:"content"`
		} `json:"results"`
	}
	query := fmt.Sprintf(`type = page AND space = %s AND label = %s`, quoted(in.Key), quoted(name))
	if err := c.json(ctx, request{method: http.MethodGet, path: v1 + "/search", query: url.Values{"cql": {query}, "limit": {"25"}}}, nil, &answer); err != nil {
		return nil, err
	}
	var ids []string
	for _, one := range answer.Results {
		if _, err := strconv.ParseUint(one.Content.ID, 10, 64); err == nil {
			ids = append(ids, one.Content.ID)
		}
	}
	return ids, nil
}

// quoted quotes a text for Confluence's query language.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (c *Confluence) labels(ctx context.Context, of *page) ([]label, error) {
	return listAll[label](ctx, c, "/pages/"+of.ID+"/labels", url.Values{"limit": {listed}})
}

func (c *Confluence) addLabel(ctx context.Context, to, name string) error {
	return c.json(ctx, request{method: http.MethodPost, path: v1 + "/content/" + to + "/label"}, []writtenLabel{{"global", name}}, nil)
}

// property returns our property of a page; nil if there is none.
func (c *Confluence) property(ctx context.Context, of *page) (*property, error) {
	found, err := listAll[property](ctx, c, "/pages/"+of.ID+"/properties", url.Values{"key": {propertyKey}, "limit": {listed}})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// record writes our property of a page.
func (c *Confluence) record(ctx context.Context, of string, before *property, value recordedPage) error {
	path := v2 + "/pages/" + of + "/properties"
	if before == nil {
		return c.json(ctx, request{method: http.MethodPost, path: path}, writtenProperty{Key: propertyKey, Value: value}, nil)
	}
	next := &pageVersion{Number: before.Version.Number + 1}
	return c.json(ctx, request{method: http.MethodPut, path: path + "/" + before.ID}, writtenProperty{propertyKey, value, next}, nil)
}

func (c *Confluence) attachments(ctx context.Context, of *page) ([]attachment, error) {
	return listAll[attachment](ctx, c, "/pages/"+of.ID+"/attachments", url.Values{"limit": {listed}})
}

// upload attaches a file, or a new version of the one with its name.
func (c *Confluence) upload(ctx context.Context, to string, file Picture, comment string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", multipart.FileContentDisposition("file", file.Name))
	header.Set("Content-Type", file.Kind)
	part, err := form.CreatePart(header)
	if err == nil {
		_, err = part.Write(file.Body)
	}
	if err := cmp.Or(err, form.WriteField("comment", comment), form.WriteField("minorEdit", "true"), form.Close()); err != nil {
		return fmt.Errorf("writing the attachment %s: %w", file.Name, err)
	}
	// PUT creates or updates; POST would reject an existing name.
	_, err = c.do(ctx, request{
		method: http.MethodPut, path: v1 + "/content/" + to + "/child/attachment", body: body.Bytes(), kind: form.FormDataContentType(),
		headers: map[string]string{"X-Atlassian-Token": "nocheck"},
	})
	return err
}

// remove moves an attachment into the trash.
func (c *Confluence) remove(ctx context.Context, one attachment) error {
	err := c.json(ctx, request{method: http.MethodDelete, path: v2 + "/attachments/" + one.ID}, nil, nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

func (c *Confluence) create(ctx context.Context, made newPage) (*page, error) {
	created := &page{}
	err := c.json(ctx, request{method: http.MethodPost, path: v2 + "/pages"}, made, created)
	return created, err
}

// update writes the next version of a page. Confluence rejects it after a concurrent change.
func (c *Confluence) update(ctx context.Context, next nextPage) (*page, error) {
	updated := &page{}
	err := c.json(ctx, request{method: http.MethodPut, path: v2 + "/pages/" + next.ID}, next, updated)
	if isStatus(err, http.StatusConflict) {
		return nil, fmt.Errorf("%w: the page was changed while the report was being written to it: publish again; the change stays in the page's history", err)
	}
	return updated, err
}
