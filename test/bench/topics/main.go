// SPDX-License-Identifier: Apache-2.0

// Command topics measures how long the operator takes to create the topics of a large FOLIO
// installation (1,474 topics with 11,909 partitions) in a real Kafka, compared to one request
// for each. Each method has a new broker: one process with KRaft that is both broker and
// controller, on loopback, with one replica of each partition.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	libs := flag.String("libs", "bin/kafka-libs", "directory with the jars of Kafka, created by test/emulators/kafka/fetch.sh")
	heap := flag.String("heap", "1g", "heap of the broker, -Xms and -Xmx")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *libs, *heap); err != nil {
		fmt.Fprintln(os.Stderr, "topics:", err)
		stop()
		os.Exit(1)
	}
}

// outcome is the cost of one method.
type outcome struct {
	name     string
	took     time.Duration
	calls    *calls
	passes   int
	idle     memory
	finished memory
}

func run(ctx context.Context, libs, heap string) error {
	wanted := topics()
	partitions := int32(0)
	for _, topic := range wanted {
		partitions += topic.Partitions
	}
	fmt.Printf("%d topics with %d partitions, one replica each, in one broker (KRaft, combined roles) with a heap of %s.\n\n", len(wanted), partitions, heap)
	var outcomes []outcome
	for _, way := range []struct {
		name string
		do   maker
	}{{"in batches, as the operator", inBatches}, {"one request per topic", oneByOne}} {
		measured, err := measure(ctx, libs, heap, way.do)
		if err != nil {
			return fmt.Errorf("creating topics %s: %w", way.name, err)
		}
		measured.name = way.name
		outcomes = append(outcomes, measured)
	}
	return print(outcomes)
}

func measure(ctx context.Context, libs, heap string, do maker) (measured outcome, err error) {
	broker, err := startBroker(ctx, libs, heap)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, broker.stop()) }()
	if measured.idle, err = broker.memory(ctx); err != nil {
		return outcome{}, err
	}
	measured.calls = &calls{}
	begun := time.Now()
	if measured.passes, err = do(ctx, broker.address, topics(), measured.calls); err != nil {
		return outcome{}, err
	}
	measured.took = time.Since(begun)
	measured.finished, err = broker.memory(ctx)
	return measured, err
}

func print(outcomes []outcome) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "method\ttime\tbroker CPU\tCreateTopics\tall requests\tpasses\theap in use\tresident memory")
	for _, o := range outcomes {
		_, _ = fmt.Fprintf(table, "%s\t%.1fs\t%.1fs\t%d\t%d\t%d\t%s → %s\t%s → %s\n", o.name, o.took.Seconds(), (o.finished.cpu - o.idle.cpu).Seconds(), o.calls.creating(), o.calls.all(), o.passes,
			mebibytes(o.idle.heap), mebibytes(o.finished.heap), mebibytes(o.idle.resident), mebibytes(o.finished.resident))
	}
	ours, single := outcomes[0], outcomes[1]
	_, _ = fmt.Fprintf(table, "ratio\t%.1fx\t%.1fx\t%.0fx\t%.1fx\t\t\t\n", single.took.Seconds()/ours.took.Seconds(),
		(single.finished.cpu-single.idle.cpu).Seconds()/(ours.finished.cpu-ours.idle.cpu).Seconds(),
		float64(single.calls.creating())/float64(ours.calls.creating()), float64(single.calls.all())/float64(ours.calls.all()))
	return table.Flush()
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
