// SPDX-License-Identifier: Apache-2.0

// Package allowedhosts determines where the credentials of a Secret may be sent. The author of
// an experiment names both a Secret and the hosts to log in to; only the Secret can allow the
// combination. The package is pure.
package allowedhosts

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// List has the hosts that a Secret's credentials may be sent to. The zero List
// limits nothing: it is for credentials that came with their address.
type List struct {
	namespace, secret string
	patterns          []pattern
}

// pattern is a host, or all hosts below a domain; with a port, only that port.
type pattern struct {
	host, port string
	below      bool
}

var written = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// ParseSecret reads the list from the annotation of a Secret whose login is for these
// addresses. Its error describes what to write.
func ParseSecret(secret metav1.Object, addresses []string) (List, error) {
	list := List{namespace: secret.GetNamespace(), secret: secret.GetName()}
	value, found := secret.GetAnnotations()[v1alpha1.AnnotationHosts]
	if !found {
		return list, fmt.Errorf("the Secret %q does not name the hosts that its login may be sent to: if these are correct, run: %s", list.secret, list.command(addresses))
	}
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if !written.MatchString(item) {
			return list, fmt.Errorf("the annotation %s of Secret %q contains %q, which is not a host, host:port or *.domain: write, for example, b-1.example.org:9096 or *.example.org", v1alpha1.AnnotationHosts, list.secret, item)
		}
		list.patterns = append(list.patterns, parse(item))
	}
	for _, address := range addresses {
		if err := list.Allow(address); err != nil {
			return list, err
		}
	}
	return list, nil
}

func parse(item string) pattern {
	name, below := strings.CutPrefix(item, "*.")
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		host, port = strings.Trim(name, "[]"), ""
	}
	return pattern{host: strings.ToLower(host), port: port, below: below}
}

func (p pattern) String() string {
	name := p.host
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if p.below {
		name = "*." + name
	}
	if p.port != "" {
		name += ":" + p.port
	}
	return name
}

// NotAllowed is an address that a Secret does not name.
type NotAllowed struct {
	Address, Secret string
	// Command adds the address.
	Command string
}

func (e *NotAllowed) Error() string {
	return fmt.Sprintf("the login of Secret %q may not be sent to %q: if that host is correct, run: %s", e.Secret, e.Address, e.Command)
}

// Allow returns a [NotAllowed] if the credentials may not be sent to host:port.
func (l List) Allow(address string) error {
	if l.secret == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.Join(&NotAllowed{Address: address, Secret: l.secret, Command: l.command([]string{address})}, err)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if slices.ContainsFunc(l.patterns, func(p pattern) bool { return p.covers(host, port) }) {
		return nil
	}
	return &NotAllowed{Address: address, Secret: l.secret, Command: l.command([]string{address})}
}

func (p pattern) covers(host, port string) bool {
	if p.port != "" && p.port != port {
		return false
	}
	if p.below {
		above, found := strings.CutSuffix(host, "."+p.host)
		return found && above != ""
	}
	return host == p.host
}

// command returns the command that adds addresses to the annotation. Users paste
// it, so it contains nothing that a shell could interpret.
func (l List) command(addresses []string) string {
	var all []string
	for _, known := range l.patterns {
		all = append(all, known.String())
	}
	for _, address := range addresses {
		if !written.MatchString(address) {
			address = "HOST:PORT"
		}
		all = append(all, address)
	}
	return fmt.Sprintf("kubectl annotate secret %s -n %s --overwrite '%s=%s'", l.secret, l.namespace, v1alpha1.AnnotationHosts, strings.Join(all, ","))
}
