package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/testkit"
)

// readLog reads the click log of a folder.
func readLog(t *testing.T, folder string) *clicks.Log {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "clicks-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := clicks.Read(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// A user asks for rankings that are drawn, and clicks on the first document of each, until the service
// is gone. What the service has accepted is noted.
type user struct {
	http.Client
	url     string
	shown   []string
	clicked []string

	interleaved, drafts bool // whether models share rankings, and by team draft in this turn
}

func (u *user) post(path, body string, answer any) error {
	resp, err := u.Post(u.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, bytes.TrimSpace(text))
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

func (u *user) rankAndClick() error {
	var out struct {
		QueryID            string `json:"query_id"`
		Drawn, Interleaved struct{ Ranking []int }
	}
	body := `{"query": "q", "document_ids": ["d0", "d1", "d2"], "documents": [[1, 2, 3], {"5": 1}, {}], "draw": {"cutoff": 2, "temperature": 9}}`
	if u.drafts = !u.drafts && u.interleaved; u.drafts {
		body = strings.Replace(body, `"draw": {"cutoff": 2, "temperature": 9}`, `"interleave": {"cutoff": 2}`, 1)
	}
	if err := u.post("/v1/rank", body, &out); err != nil {
		return err
	}
	u.shown = append(u.shown, out.QueryID)
	click := fmt.Sprintf(`{"action_name": "click", "query_id": %q, "event_attributes": {"object": {"object_id": "d%d"}}}`, out.QueryID, append(out.Drawn.Ranking, out.Interleaved.Ranking...)[0])
	if err := u.post("/v1/events", click, new(struct{})); err != nil {
		return err
	}
	u.clicked = append(u.clicked, out.QueryID)
	return nil
}

// However often the service is killed, no line that is read is torn, and nothing that it accepted is
// lost. PLRANK_KILLS is how often, 5 by default.
func TestKillsLoseNothingAccepted(t *testing.T) { killed(t, false) }

// So it is with interleaved rankings, drafted and drawn.
func TestKillsLoseNothingInterleaved(t *testing.T) { killed(t, true) }

func killed(t *testing.T, interleaved bool) {
	kills, _ := strconv.Atoi(os.Getenv("PLRANK_KILLS"))
	if kills == 0 {
		kills = 5
	}
	folder := filepath.Join(t.TempDir(), "clicks")
	args := []string{"-log", folder}
	if interleaved {
		other := filepath.Join(t.TempDir(), "other.npz")
		testkit.LinearModel(t, other, 3, 2, 1)
		args = append(args, "-interleave", "default,"+other)
	}
	var shown, clicked []string
	mended := 0
	for kill := range kills {
		c := newChild(t, args...)
		var users sync.WaitGroup
		var noted sync.Mutex
		var first sync.Once
		begun := make(chan bool) // closed when a click is accepted, or the service is gone
		for range 8 {
			users.Go(func() {
				u := &user{url: c.url, Client: http.Client{Transport: &http.Transport{}}, interleaved: interleaved}
				for u.rankAndClick() == nil {
					first.Do(func() { close(begun) })
				}
				first.Do(func() { close(begun) })
				u.CloseIdleConnections()
				noted.Lock()
				defer noted.Unlock()
				shown, clicked = append(shown, u.shown...), append(clicked, u.clicked...)
			})
		}
		users.Go(func() { // large writes, which a kill may cut
			u := &user{url: c.url}
			for u.post("/v1/events", `{"action_name": "view", "message": "`+strings.Repeat("x", 1<<20)+`"}`, new(struct{})) == nil {
			}
		})
		<-begun
		time.Sleep(time.Duration(kill*37%100) * time.Millisecond)
		c.signal(t, syscall.SIGKILL)
		users.Wait()
		c.Wait()
		if paths, _ := filepath.Glob(filepath.Join(folder, "*.jsonl")); len(paths) > 0 {
			if text, err := os.ReadFile(paths[len(paths)-1]); err == nil && !bytes.HasSuffix(text, []byte("\n")) && len(text) > 0 {
				mended++
			}
		}
	}
	newChild(t, args...) // which mends the last file
	log := readLog(t, folder)
	if len(log.Warnings) > 0 {
		t.Errorf("warnings %q", log.Warnings)
	}
	clicksOf := map[string]float64{}
	for _, im := range log.Impressions {
		if (im.Interleaving != nil) != interleaved {
			t.Fatalf("%+v", im)
		}
		clicksOf[im.ID] = im.Clicks[0]
	}
	for _, id := range shown {
		if _, ok := clicksOf[id]; !ok {
			t.Errorf("the impression %s is lost", id)
		}
	}
	for _, id := range clicked {
		if clicksOf[id] != 1 {
			t.Errorf("the click on %s is lost", id)
		}
	}
	if len(clicked) == 0 {
		t.Error("no click was accepted")
	}
	t.Logf("%d kills, %d left a torn line: %d impressions and %d clicks were accepted, none lost; the log has %d impressions", kills, mended, len(shown), len(clicked), len(log.Impressions))
}
