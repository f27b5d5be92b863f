// SPDX-License-Identifier: Apache-2.0

// Package confluence fakes a Confluence Cloud site for tests: the part of its REST API v2,
// and of v1 where v2 lacks it, that publishing a report needs. It follows
// https://developer.atlassian.com/cloud/confluence/rest/ and is stricter than a site: it
// rejects unknown requests. Like a site it pages lists, and its search index lags (Index).
// It does not render pages.
package confluence

import (
	"crypto/subtle"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The accepted login.
const (
	User  = "jane@example.org"
	Token = "s3cr3t-t0ken"
)

// SpaceKey is that of the only space.
const (
	SpaceKey = "PERF"
	spaceID  = "131073"
)

// Home is the space's first page.
const Home = "Performance home"

// part is the page size of lists.
const part = 2

// Page is a page of the site.
type Page struct {
	ID, Title, Parent, Body string
	Version                 int
	Labels                  []string
	Attachments             map[string]*Attachment
	Properties              map[string]*Property
	indexed                 []string
}

// Attachment of a page.
type Attachment struct {
	ID, Name, Kind, Comment string
	Body                    []byte
	Version                 int
}

// Property of a page.
type Property struct {
	ID, Key string
	Value   json.RawMessage
	Version int
}

// Site is a server with pages.
type Site struct {
	URL string
	// Before handles each request first; it returns true if it has answered.
	Before func(http.ResponseWriter, *http.Request) bool

	t      *testing.T
	mutex  sync.Mutex
	pages  map[string]*Page
	last   int
	writes []string
}

// New starts a site until the test ends.
func New(t *testing.T) *Site {
	t.Helper()
	s := &Site{t: t, pages: map[string]*Page{}, last: 1000}
	mux := http.NewServeMux()
	for _, one := range routes {
		mux.HandleFunc(one.pattern, func(out http.ResponseWriter, request *http.Request) { s.serve(out, request, one) })
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	s.Add(Home, "<p>Welcome.</p>")
	return s
}

// Add adds a page.
func (s *Site) Add(title, body string) *Page {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.add(title, "", body)
}

func (s *Site) add(title, parent, body string) *Page {
	made := &Page{ID: s.next(), Title: title, Parent: parent, Body: body, Version: 1, Attachments: map[string]*Attachment{}, Properties: map[string]*Property{}}
	s.pages[made.ID] = made
	return made
}

func (s *Site) next() string {
	s.last++
	return strconv.Itoa(s.last)
}

// Index updates the search index with all labels.
func (s *Site) Index() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range s.pages {
		one.indexed = slices.Clone(one.Labels)
	}
}

// Titled returns the page of that title; nil if there is none.
func (s *Site) Titled(title string) *Page {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.titled(title)
}

func (s *Site) titled(title string) *Page {
	for _, one := range s.pages {
		if strings.EqualFold(one.Title, title) {
			return one
		}
	}
	return nil
}

// Len returns the number of pages.
func (s *Site) Len() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.pages)
}

// Written returns the writes since its last call, each as method and path.
func (s *Site) Written() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// refusal is an error of the site.
type refusal struct {
	status int
	title  string
}

func (r *refusal) Error() string { return r.title }

func refuse(status int, format string, values ...any) error {
	return &refusal{status, fmt.Sprintf(format, values...)}
}

// route is a path of the API and its handler, for a page if it has {page}. Without an
// answer the status is 204.
type route struct {
	pattern string
	// query are the accepted parameters.
	query  []string
	answer func(*Site, *http.Request, *Page) (any, error)
}

var routes = []route{
	{"GET /wiki/api/v2/spaces", []string{"keys", "limit", "cursor"}, (*Site).spaces},
	{"GET /wiki/api/v2/pages", []string{"space-id", "title", "status", "body-format", "limit", "cursor"}, (*Site).list},
	{"POST /wiki/api/v2/pages", nil, (*Site).create},
	{"GET /wiki/api/v2/pages/{page}", []string{"body-format"}, (*Site).get},
	{"PUT /wiki/api/v2/pages/{page}", nil, (*Site).update},
	{"GET /wiki/api/v2/pages/{page}/labels", []string{"limit", "cursor"}, (*Site).labels},
	{"GET /wiki/api/v2/pages/{page}/attachments", []string{"limit", "cursor"}, (*Site).attachments},
	{"DELETE /wiki/api/v2/attachments/{attachment}", nil, (*Site).detach},
	{"GET /wiki/api/v2/pages/{page}/properties", []string{"key", "limit", "cursor"}, (*Site).properties},
	{"POST /wiki/api/v2/pages/{page}/properties", nil, (*Site).setProperty},
	{"PUT /wiki/api/v2/pages/{page}/properties/{property}", nil, (*Site).setProperty},
	{"GET /wiki/rest/api/search", []string{"cql", "limit"}, (*Site).search},
	{"POST /wiki/rest/api/content/{page}/label", nil, (*Site).addLabel},
	{"PUT /wiki/rest/api/content/{page}/child/attachment", nil, (*Site).attach},
	{"/", nil, func(_ *Site, request *http.Request, _ *Page) (any, error) {
		return nil, refuse(http.StatusNotFound, "no resource %s %s", request.Method, request.URL.Path)
	}},
}

// serve answers as the site would, or rejects unknown requests.
func (s *Site) serve(out http.ResponseWriter, request *http.Request, of route) {
	if s.Before != nil && s.Before(out, request) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	status := http.StatusOK
	answer, err := s.answer(request, of)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		status = refused.status
		answer = map[string]any{"errors": []map[string]any{{"status": status, "code": strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_")), "title": refused.title, "detail": nil}}}
		if strings.HasPrefix(request.URL.Path, "/wiki/rest/api") {
			answer = map[string]any{"statusCode": status, "message": refused.title}
		}
	case request.Method != http.MethodGet:
		s.writes = append(s.writes, request.Method+" "+request.URL.Path)
	}
	if answer == nil {
		out.WriteHeader(http.StatusNoContent)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

func (s *Site) answer(request *http.Request, of route) (any, error) {
	user, token, _ := request.BasicAuth()
	if user != User || subtle.ConstantTimeCompare([]byte(token), []byte(Token)) != 1 {
		return nil, refuse(http.StatusUnauthorized, "Unauthorized: no login %s", request.Header.Get("Authorization"))
	}
	for name := range request.URL.Query() {
		if of.pattern != "/" && !slices.Contains(of.query, name) {
			return nil, refuse(http.StatusBadRequest, "unknown parameter %s", name)
		}
	}
	id := request.PathValue("page")
	one := s.pages[id]
	if id != "" && one == nil {
		return nil, refuse(http.StatusNotFound, "no page %s", id)
	}
	return of.answer(s, request, one)
}

// read decodes a body without unknown fields.
func read(request *http.Request, into any) error {
	if kind, _, _ := mime.ParseMediaType(request.Header.Get("Content-Type")); kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "%q is not JSON", kind)
	}
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return refuse(http.StatusBadRequest, "the body: %v", err)
	}
	return nil
}

// listing returns a page of a list, with the link to the next.
func listing[T any](request *http.Request, all []T) (any, error) {
	limit, err := strconv.Atoi(request.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 250 {
		return nil, refuse(http.StatusBadRequest, "limit must be from 1 to 250")
	}
	from, _ := strconv.Atoi(request.URL.Query().Get("cursor"))
	to := min(from+part, len(all))
	links := map[string]string{"base": "https://example.atlassian.net/wiki"}
	if to < len(all) {
		query := request.URL.Query()
		query.Set("cursor", strconv.Itoa(to))
		links["next"] = request.URL.Path + "?" + query.Encode()
	}
	return map[string]any{"results": append([]T{}, all[from:to]...), "_links": links}, nil
}

func (s *Site) spaces(request *http.Request, _ *Page) (any, error) {
	found := []map[string]any{}
	if request.URL.Query().Get("keys") == SpaceKey {
		found = append(found, map[string]any{"id": spaceID, "key": SpaceKey, "name": "Performance", "type": "global", "status": "current"})
	}
	return listing(request, found)
}

func (s *Site) shown(one *Page) map[string]any {
	return map[string]any{
		"id": one.ID, "status": "current", "title": one.Title, "spaceId": spaceID, "parentId": one.Parent,
		"version": map[string]any{"number": one.Version, "message": "", "minorEdit": false},
		"body":    map[string]any{"storage": map[string]any{"representation": "storage", "value": one.Body}},
		"_links":  map[string]any{"base": "https://example.atlassian.net/wiki", "webui": "/spaces/" + SpaceKey + "/pages/" + one.ID},
	}
}

func (s *Site) list(request *http.Request, _ *Page) (any, error) {
	query := request.URL.Query()
	if query.Get("space-id") != spaceID || query.Get("status") != "current" || query.Get("body-format") != "storage" {
		return nil, refuse(http.StatusBadRequest, "space-id, status and body-format are not %s, current and storage", spaceID)
	}
	var found []map[string]any
	if one := s.titled(query.Get("title")); one != nil {
		found = append(found, s.shown(one))
	}
	return listing(request, found)
}

func (s *Site) get(_ *http.Request, one *Page) (any, error) {
	return s.shown(one), nil
}

type body struct {
	Representation string `json:"representation"`
	Value          string `json:"value"`
}

func (s *Site) create(request *http.Request, _ *Page) (any, error) {
	var made struct {
		SpaceID, Status, Title, ParentID string
		Body                             body
	}
	if err := read(request, &made); err != nil {
		return nil, err
	}
	if made.SpaceID != spaceID {
		return nil, refuse(http.StatusNotFound, "no space %s", made.SpaceID)
	}
	if made.ParentID != "" && s.pages[made.ParentID] == nil {
		return nil, refuse(http.StatusNotFound, "no parent %s", made.ParentID)
	}
	if err := s.check(nil, made.Status, made.Title, made.Body); err != nil {
		return nil, err
	}
	return s.shown(s.add(made.Title, made.ParentID, made.Body.Value)), nil
}

func (s *Site) update(request *http.Request, one *Page) (any, error) {
	var next struct {
		ID, Status, Title string
		Body              body
		Version           struct {
			Number  int
			Message string
		}
	}
	if err := read(request, &next); err != nil {
		return nil, err
	}
	if next.ID != one.ID {
		return nil, refuse(http.StatusNotFound, "page %s does not have the id %q", one.ID, next.ID)
	}
	if next.Version.Number != one.Version+1 {
		return nil, refuse(http.StatusConflict, "Version must be incremented when updating a page. Current Version: [%d]. Provided version: [%d]", one.Version, next.Version.Number)
	}
	if err := s.check(one, next.Status, next.Title, next.Body); err != nil {
		return nil, err
	}
	one.Title, one.Body, one.Version = next.Title, next.Body.Value, next.Version.Number
	return s.shown(one), nil
}

// check validates a version of a page.
func (s *Site) check(own *Page, status, title string, body body) error {
	switch other := s.titled(title); {
	case status != "current":
		return refuse(http.StatusBadRequest, "status %q", status)
	case title == "" || len([]rune(title)) > 255:
		return refuse(http.StatusBadRequest, "title %q", title)
	case other != nil && other != own:
		return refuse(http.StatusBadRequest, "A page with this title already exists: A page already exists with the same TITLE in this space")
	case body.Representation != "storage":
		return refuse(http.StatusBadRequest, "representation %q", body.Representation)
	}
	if err := CheckStorage(body.Value); err != nil {
		return refuse(http.StatusBadRequest, "Error parsing xhtml: %v", err)
	}
	return nil
}

// Namespaces of Confluence's own elements, and the elements allowed in a page besides them.
const (
	macros    = "http://atlassian.com/content"
	resources = "http://atlassian.com/resource/identifier"
)

var (
	plainElements = strings.Fields("a blockquote br code col colgroup del div em h1 h2 h3 h4 h5 h6 hr li ol p pre s small span strong sub sup table tbody td tfoot th thead tr u ul")
	macroElements = strings.Fields("image link link-body parameter plain-text-body rich-text-body structured-macro")
)

// CheckStorage returns what is wrong with a page in storage format.
func CheckStorage(page string) error {
	decoder := xml.NewDecoder(strings.NewReader(`<page xmlns:ac="` + macros + `" xmlns:ri="` + resources + `">` + page + `</page>`))
	decoder.Entity = map[string]string{"nbsp": "\u00a0"}
	for depth := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch one := token.(type) {
		case xml.StartElement:
			if depth++; depth > 1 {
				err = checkElement(one)
			}
		case xml.EndElement:
			depth--
		case xml.Comment, xml.Directive, xml.ProcInst:
			err = fmt.Errorf("%T is not allowed in a page", one)
		}
		if err != nil {
			return err
		}
	}
}

func checkElement(one xml.StartElement) error {
	known := map[string][]string{"": plainElements, macros: macroElements, resources: {"attachment", "page", "url"}}
	if !slices.Contains(known[one.Name.Space], one.Name.Local) {
		return fmt.Errorf("unknown element %s:%s", one.Name.Space, one.Name.Local)
	}
	attributes := map[string]string{}
	for _, attribute := range one.Attr {
		if attribute.Name.Space != "" && attribute.Name.Space != macros && attribute.Name.Space != resources {
			return fmt.Errorf("unknown attribute %s:%s", attribute.Name.Space, attribute.Name.Local)
		}
		if strings.HasPrefix(attribute.Name.Local, "on") {
			return fmt.Errorf("attribute %s", attribute.Name.Local)
		}
		attributes[attribute.Name.Space+" "+attribute.Name.Local] = attribute.Value
	}
	for element, needed := range map[string]string{macros + " structured-macro": macros + " name", resources + " attachment": resources + " filename"} {
		if one.Name.Space+" "+one.Name.Local == element && attributes[needed] == "" {
			return fmt.Errorf("element %s has no %s", one.Name.Local, needed)
		}
	}
	return nil
}

func (s *Site) labels(request *http.Request, one *Page) (any, error) {
	var shown []map[string]string
	for _, name := range one.Labels {
		shown = append(shown, map[string]string{"id": "9" + one.ID, "name": name, "prefix": "global"})
	}
	return listing(request, shown)
}

func (s *Site) addLabel(request *http.Request, one *Page) (any, error) {
	var labels []struct{ Prefix, Name string }
	if err := read(request, &labels); err != nil {
		return nil, err
	}
	for _, label := range labels {
		if label.Prefix != "global" || !regexp.MustCompile(`^[a-z0-9_-]{1,255}$`).MatchString(label.Name) {
			return nil, refuse(http.StatusBadRequest, "label %s:%s", label.Prefix, label.Name)
		}
		if !slices.Contains(one.Labels, label.Name) {
			one.Labels = append(one.Labels, label.Name)
		}
	}
	return map[string]any{"results": labels}, nil
}

var question = regexp.MustCompile(`^type = page AND space = "([^"]*)" AND label = "([^"]*)"$`)

func (s *Site) search(request *http.Request, _ *Page) (any, error) {
	words := question.FindStringSubmatch(request.URL.Query().Get("cql"))
	if words == nil || words[1] != SpaceKey {
		return nil, refuse(http.StatusBadRequest, "Could not parse cql : %s", request.URL.Query().Get("cql"))
	}
	results := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(s.pages)) {
		if slices.Contains(s.pages[id].indexed, words[2]) {
			results = append(results, map[string]any{"content": map[string]any{"id": id, "type": "page", "status": "current"}})
		}
	}
	return map[string]any{"results": results, "limit": 25, "size": len(results)}, nil
}

func (s *Site) attachments(request *http.Request, one *Page) (any, error) {
	var shown []map[string]any
	for _, name := range slices.Sorted(maps.Keys(one.Attachments)) {
		file := one.Attachments[name]
		shown = append(shown, map[string]any{
			"id": file.ID, "status": "current", "title": file.Name, "mediaType": file.Kind, "comment": file.Comment,
			"fileSize": len(file.Body), "pageId": one.ID, "version": map[string]any{"number": file.Version},
		})
	}
	return listing(request, shown)
}

func (s *Site) attach(request *http.Request, one *Page) (any, error) {
	if token := request.Header.Get("X-Atlassian-Token"); token != "nocheck" && token != "no-check" {
		return nil, refuse(http.StatusForbidden, "XSRF check failed")
	}
	file, fields, err := readForm(request)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the form: %v", err)
	}
	if fields["minorEdit"] != "true" && fields["minorEdit"] != "false" {
		return nil, refuse(http.StatusBadRequest, "minorEdit %q", fields["minorEdit"])
	}
	file.ID, file.Comment, file.Version = "att"+s.next(), fields["comment"], 1
	if before := one.Attachments[file.Name]; before != nil {
		file.ID, file.Version = before.ID, before.Version+1
	}
	one.Attachments[file.Name] = file
	return map[string]any{"results": []map[string]any{{"id": file.ID, "type": "attachment", "title": file.Name}}}, nil
}

// readForm reads one file and the known fields.
func readForm(request *http.Request) (*Attachment, map[string]string, error) {
	parts, err := request.MultipartReader()
	if err != nil {
		return nil, nil, err
	}
	var file *Attachment
	fields := map[string]string{}
	for {
		one, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		content, err := io.ReadAll(one)
		if err != nil {
			return nil, nil, err
		}
		switch name := one.FormName(); {
		case name == "file" && file == nil && one.FileName() != "":
			file = &Attachment{Name: one.FileName(), Kind: one.Header.Get("Content-Type"), Body: content}
		case (name == "comment" || name == "minorEdit") && one.FileName() == "":
			fields[name] = string(content)
		default:
			return nil, nil, fmt.Errorf("unknown field %q", name)
		}
	}
	if file == nil || len(file.Body) == 0 {
		return nil, nil, errors.New("no file")
	}
	return file, fields, nil
}

func (s *Site) detach(request *http.Request, _ *Page) (any, error) {
	for _, one := range s.pages {
		for name, file := range one.Attachments {
			if file.ID == request.PathValue("attachment") {
				delete(one.Attachments, name)
				return nil, nil //nolint:nilnil // There is no file.
			}
		}
	}
	return nil, refuse(http.StatusNotFound, "no attachment %s", request.PathValue("attachment"))
}

func (s *Site) properties(request *http.Request, one *Page) (any, error) {
	var shown []map[string]any
	for key, kept := range one.Properties {
		if wanted := request.URL.Query().Get("key"); wanted == "" || wanted == key {
			shown = append(shown, map[string]any{"id": kept.ID, "key": key, "value": kept.Value, "version": map[string]any{"number": kept.Version}})
		}
	}
	return listing(request, shown)
}

func (s *Site) setProperty(request *http.Request, one *Page) (any, error) {
	var sent struct {
		Key     string
		Value   json.RawMessage
		Version *struct {
			Number  int
			Message string
		}
	}
	if err := read(request, &sent); err != nil {
		return nil, err
	}
	id, kept := request.PathValue("property"), one.Properties[sent.Key]
	switch {
	case sent.Key == "" || len(sent.Value) == 0:
		return nil, refuse(http.StatusBadRequest, "a property has a key and a value")
	case id == "" && sent.Version != nil:
		return nil, refuse(http.StatusBadRequest, "a new property has no version")
	case id == "" && kept != nil:
		return nil, refuse(http.StatusConflict, "property %s already exists", sent.Key)
	case id == "":
		one.Properties[sent.Key] = &Property{ID: s.next(), Key: sent.Key, Value: sent.Value, Version: 1}
	case kept == nil || kept.ID != id:
		return nil, refuse(http.StatusNotFound, "no property %s %s", sent.Key, id)
	case sent.Version == nil || sent.Version.Number != kept.Version+1:
		return nil, refuse(http.StatusConflict, "the property's version is %d", kept.Version)
	default:
		kept.Value, kept.Version = sent.Value, sent.Version.Number
	}
	return map[string]any{"key": sent.Key}, nil
}
