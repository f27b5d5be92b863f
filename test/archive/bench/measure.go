// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"perflab.dev/perflab/test/archive/gateway"
)

// row is one result. A goal of zero is not checked.
type row struct {
	what string
	took time.Duration
	// cpu is the CPU time of all threads, which does not depend on other load of the
	// machine.
	cpu  time.Duration
	peak int64
	// within and most are the goals for took and peak.
	within time.Duration
	most   int64
}

type result struct {
	size   size
	rows   []row
	filled time.Duration
	load   string
}

const megabyte = 1_000_000

// measure measures the directory and the S3 server, one after the other.
func measure(ctx context.Context, o options, root, address string) (*result, error) {
	found := &result{size: o.size}
	directory := "file://" + root
	s3 := fmt.Sprintf("s3://%s/%s?endpoint=http://%s&region=%s&use_path_style=true", bucketName, prefix, address, gateway.Region)
	name := fmt.Sprintf("team-0/heap-%05d", o.size.first()-1)
	series := []string{"--scenario", "cico-1", "--metric", primary, "--arm", "arm-1"}
	for _, one := range []struct {
		row
		url string
	}{
		{row{what: "one series, directory", within: 2 * time.Second, most: 200 * megabyte}, directory},
		{row{what: "one series, S3 on loopback", within: 5 * time.Second, most: 200 * megabyte}, s3},
	} {
		for range o.tries {
			used, out, err := child(ctx, o.perflab, append([]string{"history", "--archive", one.url, name}, series...)...)
			if err != nil {
				return nil, err
			}
			if points := min(300, o.size.first()); !strings.Contains(out, "rose by") && points == 300 || strings.Count(out, "2016-")+strings.Count(out, "2017-") < min(points, 10) {
				return nil, fmt.Errorf("%s does not show the generated series:\n%.2000s", one.what, out)
			}
			one.took, one.cpu, one.peak = max(one.took, used.took), max(one.cpu, used.cpu), max(one.peak, used.peak)
		}
		found.rows = append(found.rows, one.row)
	}
	if err := found.rebuild(ctx, o, root, directory); err != nil {
		return nil, err
	}
	text, err := os.ReadFile("/proc/loadavg")
	found.load = strings.TrimSpace(string(text))
	return found, err
}

// rebuild rebuilds the index, and optionally all references. It compares them with the
// original.
func (r *result) rebuild(ctx context.Context, o options, root, url string) error {
	lost := map[string][]string{"rebuilt index from the records": {"series"}}
	steps := []string{"rebuilt index from the records"}
	if o.objects {
		lost["rebuilt index and references from the objects alone"] = []string{"series", "experiments", "runs"}
		steps = append(steps, "rebuilt index and references from the objects alone")
	}
	for _, step := range steps {
		want, err := digestFiles(root, lost[step])
		if err != nil {
			return err
		}
		for _, folder := range lost[step] {
			if err := os.RemoveAll(filepath.Join(root, folder)); err != nil {
				return err
			}
		}
		arguments := []string{"archive", "index", "--archive", url}
		if len(lost[step]) > 1 {
			arguments = append(arguments, "--from-objects")
		}
		used, _, err := child(ctx, o.perflab, arguments...)
		if err != nil {
			return err
		}
		got, err := digestFiles(root, lost[step])
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("the %s differs from the first one", step)
		}
		r.rows = append(r.rows, row{what: step, took: used.took, cpu: used.cpu, peak: used.peak})
	}
	return nil
}

// digestFiles returns a hash of the names and contents of all files of folders.
func digestFiles(root string, folders []string) (string, error) {
	sum := sha256.New()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			_, _ = fmt.Fprintf(sum, "%s %d\n", path, len(body))
			_, _ = sum.Write(body)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// child runs perflab and measures its duration and its peak memory. It reads the memory
// every few milliseconds, because the value at exit includes the memory of this process.
func child(ctx context.Context, program string, arguments ...string) (used row, out string, err error) {
	var printed, problems bytes.Buffer
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+access, "AWS_SECRET_ACCESS_KEY="+secret)
	command.Stdout, command.Stderr = &printed, &problems
	began := time.Now()
	if err := command.Start(); err != nil {
		return row{}, "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = errors.Join(fmt.Errorf("perflab %s: %w: %s", strings.Join(arguments, " "), err, problems.String()), ctx.Err())
			}
			used.took, used.cpu = time.Since(began), command.ProcessState.UserTime()+command.ProcessState.SystemTime()
			return used, printed.String(), err
		case <-time.After(2 * time.Millisecond):
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
		if found := highWater.FindSubmatch(text); err == nil && found != nil {
			if kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64); err == nil {
				used.peak = max(used.peak, kilobytes<<10)
			}
		}
	}
}

func (r *result) write(out io.Writer) {
	var text strings.Builder
	fmt.Fprintf(&text, "%d experiments, %d runs, %d namespaces; load average %s\n", r.size.Experiments, r.size.Experiments*r.size.Runs, r.size.Namespaces, r.load)
	if r.filled > 0 {
		fmt.Fprintf(&text, "filled in %s\n", r.filled.Round(time.Second))
	}
	rows := &strings.Builder{}
	rows.WriteString("what\ts\tgoal\tCPU s\tMB\tgoal\n")
	for _, one := range r.rows {
		goals := [2]string{"", ""}
		if one.within > 0 {
			goals = [2]string{fmt.Sprint(one.within.Seconds()), fmt.Sprint(one.most / megabyte)}
		}
		fmt.Fprintf(rows, "%s\t%.2f\t%s\t%.2f\t%d\t%s\n", one.what, one.took.Seconds(), goals[0], one.cpu.Seconds(), one.peak/megabyte, goals[1])
	}
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(table, rows.String())
	_ = table.Flush()
	for _, missed := range r.missed() {
		fmt.Fprintln(&text, "missed:", missed)
	}
	_, _ = io.WriteString(out, text.String())
}

// missed returns the missed goals.
func (r *result) missed() []string {
	var all []string
	for _, one := range r.rows {
		if one.within > 0 && one.took > one.within {
			all = append(all, fmt.Sprintf("%s takes %.2f s, goal %g", one.what, one.took.Seconds(), one.within.Seconds()))
		}
		if one.most > 0 && one.peak > one.most {
			all = append(all, fmt.Sprintf("%s takes %d MB, goal %d", one.what, one.peak/megabyte, one.most/megabyte))
		}
	}
	return all
}
