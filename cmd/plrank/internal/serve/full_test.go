//go:build linux || darwin

package serve

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asLimited is the environment variable of a child that limits the bytes of its files.
const asLimited = "PLRANK_TEST_SERVE_BYTES"

func init() {
	if bytes, err := strconv.ParseUint(os.Getenv(asLimited), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
			panic(err)
		}
	}
}

// The end of the service waits for its log. The client sees that the disk is full, until there is room
// again.
func TestFullDiskIsSeenAndDrainClosesTheLog(t *testing.T) {
	t.Setenv(asLimited, "3000")
	folder := filepath.Join(t.TempDir(), "clicks")
	c := newChild(t, "-log", folder, "-drain", "0s")
	u := &user{url: c.url}
	if err := u.rankAndClick(); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat(`{"action_name": "view", "message": "`+strings.Repeat("x", 500)+`"},`, 5)
	err := u.post("/v1/events", "["+large+`{"action_name": "view"}]`, new(struct{}))
	if err == nil || !strings.Contains(err.Error(), `status 507: {"error":"the click log cannot be written`) {
		t.Errorf("%v, want a full disk", err)
	}
	c.logs(t, "file too large")
	if err := u.rankAndClick(); err != nil { // into a new file, which has room
		t.Error(err)
	}
	c.signal(t, syscall.SIGTERM)
	c.logs(t, "all requests are answered")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if log := readLog(t, folder); len(log.Warnings) > 0 || len(log.Impressions) != 2 || log.Impressions[1].Clicks[0] != 1 {
		t.Errorf("%d impressions, %q", len(log.Impressions), log.Warnings)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want two files, and no lock", left, err)
	}
}
