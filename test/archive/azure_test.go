// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// azure is Azurite, Microsoft's own emulator of Azure Storage.
type azure struct {
	endpoint string
	client   *azblob.Client
}

// The well-known account of the emulator; its key is not secret.
const (
	azuresAccount = "devstoreaccount1"
	azuresKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

func startAzure(t *testing.T) emulated {
	t.Helper()
	program := os.Getenv("AZURITE")
	if program == "" {
		t.Skip("AZURITE is not set: make test-archive sets it")
	}
	//nolint:gosec // The Makefile sets the path.
	command := exec.CommandContext(t.Context(), "node", program, "--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--silent", "--disableTelemetry")
	printed, err := command.StdoutPipe()
	expect.NoError(t, err)
	command.Stderr = os.Stderr
	expect.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	late := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	server := &azure{endpoint: readAddress(t, printed) + "/" + azuresAccount}
	late.Stop()
	shared, err := azblob.NewSharedKeyCredential(azuresAccount, azuresKey)
	expect.NoError(t, err)
	if server.client, err = azblob.NewClientWithSharedKeyCredential(server.endpoint, shared, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := server.client.CreateContainer(t.Context(), emulatedBucket, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := server.client.UploadBuffer(t.Context(), emulatedBucket, "of-somebody-else", nil, nil); err != nil {
		t.Fatal(err)
	}
	return server
}

// readAddress returns the address that the program prints when it is ready.
func readAddress(t *testing.T, printed io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "listens on "); found {
			return address
		}
	}
	t.Fatalf("it ended, or a minute did, before it was ready: %v", lines.Err())
	return ""
}

func (a *azure) at(t *testing.T, bucket string) archive.Location {
	t.Helper()
	location, err := archive.ParseLocation(fmt.Sprintf("azblob://%s/archive?account=%s&endpoint=%s", bucket, azuresAccount, a.endpoint))
	expect.NoError(t, err)
	location.Credentials = archive.Credentials{Secret: azuresKey}
	return location
}

// sizes returns the sizes of the archive's objects by name.
func (a *azure) sizes(t *testing.T) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	prefix := "archive/"
	for pages := a.client.NewListBlobsFlatPager(emulatedBucket, &azblob.ListBlobsFlatOptions{Prefix: &prefix}); pages.More(); {
		page, err := pages.NextPage(t.Context())
		expect.NoError(t, err)
		for _, one := range page.Segment.BlobItems {
			found[*one.Name] = *one.Properties.ContentLength
		}
	}
	return found
}

func (a *azure) names(t *testing.T) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(a.sizes(t)))
}

func (a *azure) alter(t *testing.T, size int64) {
	t.Helper()
	for name, has := range a.sizes(t) {
		if has != size {
			continue
		}
		body := make([]byte, size)
		if _, err := a.client.DownloadBuffer(t.Context(), emulatedBucket, name, body, nil); err != nil {
			t.Fatal(err)
		}
		body[0] ^= 1
		if _, err := a.client.UploadBuffer(t.Context(), emulatedBucket, name, body, nil); err != nil {
			t.Fatal(err)
		}
	}
}
