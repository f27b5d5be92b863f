// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/prose"
)

var errNotArchived = errors.New("not found in the archive")

// archiveOptions select the archive.
type archiveOptions struct{ url string }

// NewArchive returns the command archive.
func NewArchive() *cobra.Command {
	command := &cobra.Command{
		Use:   "archive",
		Short: "Read and maintain an archive of results",
		Long: `Read and maintain the archive that an operator with --archive keeps of runs and
experiments, in an object store or a directory. No cluster is needed.

Set --archive or PERFLAB_ARCHIVE to the URL that the operator uses. Credentials are
those of the store's own tools, for example AWS_PROFILE, or AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY.`,
	}
	options := &archiveOptions{}
	command.PersistentFlags().StringVar(&options.url, "archive", os.Getenv(source.ArchiveVariable), "URL of the archive, such as s3://perflab/archive?region=eu-central-1 or file:///archive (env "+source.ArchiveVariable+")")
	command.AddCommand(newArchiveList(options), newArchiveGet(options), newArchiveIndex(options), newArchiveDelete(options), newArchivePrune(options))
	return command
}

// withStore opens the archive and runs a command on it.
func (o *archiveOptions) withStore(run func(*cobra.Command, *archive.Store, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, arguments []string) error {
		store, err := source.OpenArchive(command.Context(), o.url)
		if err != nil {
			return err
		}
		return run(command, store, arguments)
	}
}

func newArchiveList(options *archiveOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAMESPACE[/NAME]]",
		Short: "List archived experiments",
		Long: `List the experiments in the archive: all, those of a namespace, or those of a name. An
experiment that was created again with its name has a row for each.

Exit codes: 0 success, 1 the archive cannot be read.`,
		Example: `  perflab archive list --archive s3://perflab/archive?region=eu-central-1
  perflab archive list lab/maxram-vs-xmx --archive file:///archive`,
		Args: cobra.MaximumNArgs(1),
		RunE: options.withStore(listArchive),
	}
}

func listArchive(command *cobra.Command, store *archive.Store, arguments []string) error {
	prefix := archive.ExperimentsPrefix
	if len(arguments) > 0 {
		prefix += strings.TrimSuffix(arguments[0], "/") + "/"
	}
	rows := [][]string{{"EXPERIMENT", "UID", "ENDED", "RUNS"}}
	for kept, err := range store.Current(command.Context(), prefix) {
		if err != nil {
			return err
		}
		reference := kept.Reference
		rows = append(rows, []string{
			reference.Namespace + "/" + reference.Experiment, reference.ExperimentUID,
			kept.Manifest.At.UTC().Format(time.DateTime), fmt.Sprint(len(kept.Manifest.Runs)),
		})
	}
	p := console.NewPage(command.OutOrStdout())
	p.Table(rows)
	return p.Err
}

func newArchiveGet(options *archiveOptions) *cobra.Command {
	uid := ""
	command := &cobra.Command{
		Use:   "get NAMESPACE/NAME",
		Short: "Write an archived experiment, as perflab export does",
		Long: `Write an archived experiment, with its runs and raw results, as perflab export does:
perflab report -f, verify, history and import read it. Each object is verified by its
digest.

Of several experiments with the name, the one that ended last is written; --uid
chooses another. If the notes of an experiment changed, its newest record is written.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab archive get lab/maxram-vs-xmx | perflab report -f - -o html > report.html
  perflab archive get lab/maxram-vs-xmx | perflab verify -`,
		Args: cobra.ExactArgs(1),
		RunE: options.withStore(func(command *cobra.Command, store *archive.Store, arguments []string) error {
			return getArchived(command, store, arguments[0], uid)
		}),
	}
	command.Flags().StringVar(&uid, "uid", "", "UID of the experiment, if several have the name")
	return command
}

func getArchived(command *cobra.Command, store *archive.Store, name, uid string) error {
	identity, err := parseArchivedName(name, uid)
	if err != nil {
		return err
	}
	last, err := store.Latest(command.Context(), identity.Prefix())
	if err != nil {
		return err
	}
	if last == nil {
		return notArchivedError(name, store)
	}
	input, err := contents.Read(command.Context(), store, last.Reference)
	if err != nil {
		return err
	}
	out := console.NewSink(command)
	return out.Finish("the recorded objects", report.Write(out, input))
}

// parseArchivedName parses NAMESPACE/NAME.
func parseArchivedName(name, uid string) (archive.Identity, error) {
	namespace, experiment, found := strings.Cut(name, "/")
	if !found || namespace == "" || experiment == "" || strings.Contains(experiment, "/") {
		return archive.Identity{}, fmt.Errorf("%w: invalid name %q: write NAMESPACE/NAME", exit.ErrOption, name)
	}
	return archive.Identity{Namespace: namespace, Experiment: experiment, ExperimentUID: uid}, nil
}

func notArchivedError(name string, store *archive.Store) error {
	return fmt.Errorf("%w: experiment %q, in %s: list its experiments with perflab archive list", errNotArchived, name, store)
}

func newArchiveIndex(options *archiveOptions) *cobra.Command {
	fromObjects := false
	command := &cobra.Command{
		Use:   "index",
		Short: "Rebuild the index of series",
		Long: `Rebuild the index with which perflab history --archive finds the experiments of a
series. The operator maintains it. It lacks experiments that were archived before
there was an index, and it is missing in a copy without it. Existing entries stay.

An experiment whose record lacks what a history needs gets another record, with it.
--from-objects also rebuilds lost references: it reads all objects, and may restore
what gc has just deleted.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab archive index --archive s3://perflab/archive?region=eu-central-1
  perflab archive index --from-objects --archive file:///archive`,
		Args: cobra.NoArgs,
		RunE: options.withStore(func(command *cobra.Command, store *archive.Store, _ []string) error {
			return indexArchive(command, store, fromObjects)
		}),
	}
	command.Flags().BoolVar(&fromObjects, "from-objects", false, "also rebuild lost references of records from the objects")
	return command
}

func indexArchive(command *cobra.Command, store *archive.Store, fromObjects bool) error {
	p := console.NewPage(command.OutOrStdout())
	if fromObjects {
		sum, err := contents.Restore(command.Context(), store)
		if err != nil {
			return err
		}
		p.Line("References restored for %s; %s incomplete", prose.Counted(sum.Restored, "record"), prose.Counted(sum.Broken, "record"))
	}
	sum, err := contents.Index(command.Context(), store)
	if err != nil {
		return errors.Join(p.Err, err)
	}
	p.Line("%s %s in the index, %d of them with a new record; %s %s no complete block",
		prose.Counted(sum.Entered, "experiment"), prose.Verb(sum.Entered, "is", "are"), sum.Measured,
		prose.Counted(sum.Incomplete, "experiment"), prose.Verb(sum.Incomplete, "has", "have"))
	return p.Err
}

func newArchiveDelete(options *archiveOptions) *cobra.Command {
	uid, dryRun := "", false
	command := &cobra.Command{
		Use:   "delete NAMESPACE/NAME",
		Short: "Delete an experiment from the archive",
		Long: `Delete an experiment and its runs from the archive, its lists and its histories.
kubectl delete does not change the archive. Delete the experiment in the cluster
first: otherwise its operator may archive it again. The next perflab archive gc, a day
later, deletes the objects without other references. You need the right to delete,
which the operator does not need.

--dry-run shows what would be deleted. Of several experiments with the name, --uid
chooses one.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab archive delete lab/maxram-vs-xmx --dry-run
  perflab archive delete lab/maxram-vs-xmx --uid 6f0f6c1e-0000-4000-8000-000000000001`,
		Args: cobra.ExactArgs(1),
		RunE: options.withStore(func(command *cobra.Command, store *archive.Store, arguments []string) error {
			return deleteArchived(command, store, arguments[0], uid, dryRun)
		}),
	}
	flags := command.Flags()
	flags.StringVar(&uid, "uid", "", "UID of the experiment, if several have the name")
	flags.BoolVar(&dryRun, "dry-run", false, "show what would be deleted")
	return command
}

func deleteArchived(command *cobra.Command, store *archive.Store, name, uid string, dryRun bool) error {
	identity, err := parseArchivedName(name, uid)
	if err != nil {
		return err
	}
	there, err := store.Experiments(command.Context(), identity.Namespace, identity.Experiment)
	switch {
	case err != nil:
		return err
	case len(there) == 0 || uid != "" && !slices.Contains(there, uid):
		return notArchivedError(name, store)
	case uid == "" && len(there) > 1:
		return fmt.Errorf("%w: the archive has %d experiments %q: select one with --uid: %s", exit.ErrOption, len(there), name, strings.Join(there, ", "))
	}
	identity.ExperimentUID = cmp.Or(uid, there[0])
	p := console.NewPage(command.OutOrStdout())
	done, count := "deleted", 0
	if dryRun {
		done = "would be deleted"
	}
	err = store.Forget(command.Context(), identity, dryRun, func(key string) {
		count++
		p.Line("%s %s", key, done)
	})
	if err != nil {
		return errors.Join(p.Err, err)
	}
	p.Line("%s %s; perflab archive gc deletes unreferenced objects", prose.Counted(count, "reference"), done)
	return p.Err
}

func newArchivePrune(options *archiveOptions) *cobra.Command {
	policy := archive.CollectionPolicy{}
	command := &cobra.Command{
		Use:   "gc",
		Short: "Prune expired records",
		Long: `Prune expired records, and objects without references. Without flags for age and
count, all records stay. A run stays as long as the record of its experiment. Objects
younger than --grace stay; if any record cannot be read, everything stays.

--dry-run shows what would be deleted.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab archive gc --experiments-age 17520h --runs-age 17520h --dry-run
  perflab archive gc --experiments-count 20`,
		Args: cobra.NoArgs,
		RunE: options.withStore(func(command *cobra.Command, store *archive.Store, _ []string) error {
			return pruneArchive(command, store, policy)
		}),
	}
	flags := command.Flags()
	flags.DurationVar(&policy.Grace, "grace", 24*time.Hour, "minimum age of what is deleted")
	flags.DurationVar(&policy.Runs.Age, "runs-age", 0, "maximum age of records of runs; 0: no maximum")
	flags.IntVar(&policy.Runs.Count, "runs-count", 0, "number of runs to keep of each experiment, the newest; 0: all")
	flags.DurationVar(&policy.Experiments.Age, "experiments-age", 0, "maximum age of records of experiments; 0: no maximum")
	flags.IntVar(&policy.Experiments.Count, "experiments-count", 0, "number of records to keep of each experiment, the newest; 0: all")
	flags.BoolVar(&policy.DryRun, "dry-run", false, "show what would be deleted")
	flags.BoolVar(&policy.WithoutReferences, "without-references", false, "prune although there is no record: this deletes everything")
	return command
}

func pruneArchive(command *cobra.Command, store *archive.Store, policy archive.CollectionPolicy) error {
	p := console.NewPage(command.OutOrStdout())
	done := "deleted"
	if policy.DryRun {
		done = "would be deleted"
	}
	sum, err := store.Collect(command.Context(), policy, func(gone archive.Removal) {
		p.Line("%s %s (%s): %s", gone.Key, done, formatMebibytes(gone.Size), gone.Why)
	})
	if err != nil {
		return errors.Join(p.Err, err)
	}
	p.Line("%s and %s %s, %s; %s and %s kept, %s",
		prose.Counted(sum.Records, "record"), prose.Counted(sum.Objects, "object"), done, formatMebibytes(sum.Bytes),
		prose.Counted(sum.RecordsKept, "record"), prose.Counted(sum.ObjectsKept, "object"), formatMebibytes(sum.BytesKept))
	return p.Err
}

func formatMebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
