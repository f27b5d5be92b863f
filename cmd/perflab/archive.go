// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/archived"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/report"
)

// archiveVariable names the archive for commands that are not told.
const archiveVariable = "PERFLAB_ARCHIVE"

var errNotArchived = errors.New("the archive does not have it")

// archiveOptions say which archive a command is about.
type archiveOptions struct{ url string }

func newArchive() *cobra.Command {
	command := &cobra.Command{
		Use:   "archive",
		Short: "Read, and tidy, the archive of what was measured",
		Long: `Read, and tidy, the archive that an operator with --archive keeps of runs and
experiments, in an object store or a directory. It needs no cluster.

--archive, or the variable ` + archiveVariable + `, has the URL of the archive as the operator has
it. Credentials are those that the store's own programs use, for example
AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
	}
	options := &archiveOptions{}
	command.PersistentFlags().StringVar(&options.url, "archive", os.Getenv(archiveVariable), "URL of the archive, such as s3://perflab/archive?region=eu-central-1 or file:///archive (env "+archiveVariable+")")
	command.AddCommand(newArchiveList(options), newArchiveGet(options), newArchiveIndex(options), newArchiveDelete(options), newArchiveCollect(options))
	return command
}

// on opens the archive and runs a command on it.
func (o *archiveOptions) on(run func(*cobra.Command, *archive.Store, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, arguments []string) error {
		store, err := openArchive(command.Context(), o.url)
		if err != nil {
			return err
		}
		return run(command, store, arguments)
	}
}

func openArchive(ctx context.Context, url string) (*archive.Store, error) {
	if url == "" {
		return nil, fmt.Errorf("%w: --archive is missing: name the archive, for example --archive s3://perflab/archive?region=eu-central-1, or set %s", errOption, archiveVariable)
	}
	location, err := archive.ParseLocation(url)
	if err != nil {
		return nil, fmt.Errorf("%w: --archive: %w", errOption, err)
	}
	return stores.Open(ctx, location, archive.Options{})
}

func newArchiveList(options *archiveOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAMESPACE[/NAME]]",
		Short: "List the experiments that are kept",
		Long: `List the experiments that are kept, of all namespaces, of one, or of one name: an
experiment that was created again under its name is listed once for each.

Exit codes: 0 they are listed, 1 the archive can't be read.`,
		Example: `  perflab archive list --archive s3://perflab/archive?region=eu-central-1
  perflab archive list lab/maxram-vs-xmx --archive file:///archive`,
		Args: cobra.MaximumNArgs(1),
		RunE: options.on(listArchive),
	}
}

func listArchive(command *cobra.Command, store *archive.Store, arguments []string) error {
	prefix := archive.ExperimentsPrefix
	if len(arguments) > 0 {
		prefix += strings.TrimSuffix(arguments[0], "/") + "/"
	}
	rows := [][]string{{"EXPERIMENT", "UID", "ENDED", "RUNS"}}
	for kept, err := range store.Standing(command.Context(), prefix) {
		if err != nil {
			return err
		}
		reference := kept.Reference
		rows = append(rows, []string{
			reference.Namespace + "/" + reference.Experiment, reference.ExperimentUID,
			kept.Manifest.At.UTC().Format(time.DateTime), fmt.Sprint(len(kept.Manifest.Runs)),
		})
	}
	p := pageTo(command.OutOrStdout())
	p.table(rows)
	return p.err
}

func newArchiveGet(options *archiveOptions) *cobra.Command {
	uid := ""
	command := &cobra.Command{
		Use:   "get NAMESPACE/NAME",
		Short: "Write down an experiment that is kept, as perflab export does",
		Long: `Write down an experiment that is kept, with its runs and raw results, as perflab
export does: perflab report -f, verify, history and import read it. Each byte is
checked by its digest.

Of several experiments of the name the one that ended last is taken, or that of
--uid; of one whose notes changed, the record that was kept last.

Exit codes: 0 it was written, 1 it could not be.`,
		Example: `  perflab archive get lab/maxram-vs-xmx | perflab report -f - -o html > report.html
  perflab archive get lab/maxram-vs-xmx | perflab verify -`,
		Args: cobra.ExactArgs(1),
		RunE: options.on(func(command *cobra.Command, store *archive.Store, arguments []string) error {
			return getArchived(command, store, arguments[0], uid)
		}),
	}
	command.Flags().StringVar(&uid, "uid", "", "UID of the experiment, of several of one name")
	return command
}

func getArchived(command *cobra.Command, store *archive.Store, name, uid string) error {
	identity, err := archivedIdentity(name, uid)
	if err != nil {
		return err
	}
	last, err := store.Last(command.Context(), identity.Prefix())
	if err != nil {
		return err
	}
	if last == nil {
		return notArchived(name, store)
	}
	input, err := archived.Read(command.Context(), store, last.Reference)
	if err != nil {
		return err
	}
	out := newSink(command)
	return out.end("what was recorded", report.Write(out, input))
}

// archivedIdentity of an experiment that is written as NAMESPACE/NAME.
func archivedIdentity(name, uid string) (archive.Identity, error) {
	namespace, experiment, found := strings.Cut(name, "/")
	if !found || namespace == "" || experiment == "" || strings.Contains(experiment, "/") {
		return archive.Identity{}, fmt.Errorf("%w: %q names no experiment of an archive: write NAMESPACE/NAME", errOption, name)
	}
	return archive.Identity{Namespace: namespace, Experiment: experiment, ExperimentUID: uid}, nil
}

func notArchived(name string, store *archive.Store) error {
	return fmt.Errorf("%w: experiment %q, in %s: list what it has with perflab archive list", errNotArchived, name, store)
}

func newArchiveIndex(options *archiveOptions) *cobra.Command {
	fromObjects := false
	command := &cobra.Command{
		Use:   "index",
		Short: "Rebuild the index of series",
		Long: `Rebuild the index by which perflab history --archive finds the experiments of a
series. The operator keeps it; it is missing of experiments that were kept before there
was one, and of an archive that was copied without it. What is there stays as it is.

Experiments that were kept without what a history needs of them are kept once more, with
it. --from-objects rebuilds lost references as well: it reads every object, and what gc
has just deleted may come back.

Exit codes: 0 it is done, 1 it could not be.`,
		Example: `  perflab archive index --archive s3://perflab/archive?region=eu-central-1
  perflab archive index --from-objects --archive file:///archive`,
		Args: cobra.NoArgs,
		RunE: options.on(func(command *cobra.Command, store *archive.Store, _ []string) error {
			return indexArchive(command, store, fromObjects)
		}),
	}
	command.Flags().BoolVar(&fromObjects, "from-objects", false, "also rebuild lost references of records from the objects")
	return command
}

func indexArchive(command *cobra.Command, store *archive.Store, fromObjects bool) error {
	p := pageTo(command.OutOrStdout())
	if fromObjects {
		sum, err := archived.Restore(command.Context(), store)
		if err != nil {
			return err
		}
		p.line("%s %s a reference; %s %s never kept to the end", prose.Counted(sum.Restored, "record"), prose.Verb(sum.Restored, "has", "have"), prose.Counted(sum.Broken, "record"), prose.Verb(sum.Broken, "was", "were"))
	}
	sum, err := archived.Index(command.Context(), store)
	if err != nil {
		return errors.Join(p.err, err)
	}
	p.line("%s %s in the index, %d of them kept once more for it; %s %s no complete block",
		prose.Counted(sum.Entered, "experiment"), prose.Verb(sum.Entered, "is", "are"), sum.Measured,
		prose.Counted(sum.Without, "experiment"), prose.Verb(sum.Without, "has", "have"))
	return p.err
}

func newArchiveDelete(options *archiveOptions) *cobra.Command {
	uid, dryRun := "", false
	command := &cobra.Command{
		Use:   "delete NAMESPACE/NAME",
		Short: "Take an experiment out of the archive",
		Long: `Take an experiment out of the archive, with its runs: it is listed no longer, and is in no
history. kubectl delete leaves the archive as it is; delete the experiment there first, or
its operator may keep it once more. The objects that nothing else refers to go with the
next perflab archive gc, a day later. It takes the right to delete, which the operator
does not need.

Look first: --dry-run says what would go. Of several experiments of the name --uid says which.

Exit codes: 0 it is gone, 1 it could not be taken out.`,
		Example: `  perflab archive delete lab/maxram-vs-xmx --dry-run
  perflab archive delete lab/maxram-vs-xmx --uid 6f0f6c1e-0000-4000-8000-000000000001`,
		Args: cobra.ExactArgs(1),
		RunE: options.on(func(command *cobra.Command, store *archive.Store, arguments []string) error {
			return deleteArchived(command, store, arguments[0], uid, dryRun)
		}),
	}
	flags := command.Flags()
	flags.StringVar(&uid, "uid", "", "UID of the experiment, of several of one name")
	flags.BoolVar(&dryRun, "dry-run", false, "take nothing out, and say what would go")
	return command
}

func deleteArchived(command *cobra.Command, store *archive.Store, name, uid string, dryRun bool) error {
	identity, err := archivedIdentity(name, uid)
	if err != nil {
		return err
	}
	there, err := store.Experiments(command.Context(), identity.Namespace, identity.Experiment)
	switch {
	case err != nil:
		return err
	case len(there) == 0 || uid != "" && !slices.Contains(there, uid):
		return notArchived(name, store)
	case uid == "" && len(there) > 1:
		return fmt.Errorf("%w: the archive has %d experiments %q: say which with --uid: %s", errOption, len(there), name, strings.Join(there, ", "))
	}
	identity.ExperimentUID = cmp.Or(uid, there[0])
	p := pageTo(command.OutOrStdout())
	verb, count := "gone", 0
	if dryRun {
		verb = "would go"
	}
	err = store.Forget(command.Context(), identity, dryRun, func(key string) {
		count++
		p.line("%s %s", verb, key)
	})
	if err != nil {
		return errors.Join(p.err, err)
	}
	p.line("%s %s; perflab archive gc takes away what nothing else refers to", prose.Counted(count, "reference"), verb)
	return p.err
}

func newArchiveCollect(options *archiveOptions) *cobra.Command {
	policy := archive.Policy{}
	command := &cobra.Command{
		Use:   "gc",
		Short: "Prune expired records",
		Long: `Prune expired records, and objects that no record refers to. Without the flags for the age and count of runs and experiments every
record stays. A run stays as long as the record of its experiment does. Nothing that
is younger than --grace goes, and nothing at all if any record can't be read.

Look first: --dry-run says what would go.

Exit codes: 0 it is done, 1 it could not be.`,
		Example: `  perflab archive gc --experiments-age 17520h --runs-age 17520h --dry-run
  perflab archive gc --experiments-count 20`,
		Args: cobra.NoArgs,
		RunE: options.on(func(command *cobra.Command, store *archive.Store, _ []string) error {
			return collectArchive(command, store, policy)
		}),
	}
	flags := command.Flags()
	flags.DurationVar(&policy.Grace, "grace", 24*time.Hour, "how old has to be what goes")
	flags.DurationVar(&policy.Runs.Age, "runs-age", 0, "how long records of runs stay; 0: for ever")
	flags.IntVar(&policy.Runs.Count, "runs-count", 0, "how many runs of an experiment stay, the latest; 0: all")
	flags.DurationVar(&policy.Experiments.Age, "experiments-age", 0, "how long records of experiments stay; 0: for ever")
	flags.IntVar(&policy.Experiments.Count, "experiments-count", 0, "how many records of an experiment stay, the latest; 0: all")
	flags.BoolVar(&policy.DryRun, "dry-run", false, "take nothing away, and say what would go")
	flags.BoolVar(&policy.WithoutReferences, "without-references", false, "also where not one record is left: then everything goes")
	return command
}

func collectArchive(command *cobra.Command, store *archive.Store, policy archive.Policy) error {
	p := pageTo(command.OutOrStdout())
	verb := "gone"
	if policy.DryRun {
		verb = "would go"
	}
	sum, err := store.Collect(command.Context(), policy, func(gone archive.Gone) {
		p.line("%s %s (%s): %s", verb, gone.Key, mebibytes(gone.Size), gone.Why)
	})
	if err != nil {
		return errors.Join(p.err, err)
	}
	p.line("%s and %s %s, %s; %s and %s stay, %s",
		prose.Counted(sum.Records, "record"), prose.Counted(sum.Objects, "object"), verb, mebibytes(sum.Bytes),
		prose.Counted(sum.RecordsKept, "record"), prose.Counted(sum.ObjectsKept, "object"), mebibytes(sum.BytesKept))
	return p.err
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
