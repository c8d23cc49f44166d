package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plrank/plrank/clicks"
)

const atOnce = 64 // users

func newUsers(base string, shop *Shop) *Users {
	transport := &http.Transport{MaxIdleConnsPerHost: atOnce} // one connection for each, kept
	return &Users{base: base, shop: shop, client: http.Client{Transport: transport, Timeout: time.Minute}}
}

// Users search the shop over HTTP, look at what they get from the top, and click what attracts them.
type Users struct {
	base   string // address of the shop
	shop   *Shop
	client http.Client
	last   atomic.Uint64 // the seed of the last search: the users of a day are always the same
}

// visit lets users search until the day is over.
func (u *Users) visit(ctx context.Context, over func() bool) error {
	var wait sync.WaitGroup
	failed := make(chan error, atOnce)
	for range cap(failed) {
		wait.Go(func() {
			for !over() && ctx.Err() == nil && len(failed) == 0 {
				if err := u.search(ctx); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(failed)
	return <-failed
}

// search is one search of one user.
func (u *Users) search(ctx context.Context) error {
	random := rand.New(rand.NewPCG(1, u.last.Add(1)))
	who := random.IntN(3000)
	q, segment := u.shop.Queries[u.shop.popular(random.Float64())], segments[who%len(segments)]
	form := url.Values{"q": {q.Text}, "segment": {segment}, "client": {fmt.Sprintf("c%d", who)}}
	var a Answer
	if err := u.do(ctx, "/search", "application/x-www-form-urlencoded", []byte(form.Encode()), &a); err != nil {
		return err
	}
	attracted, clicked := make([]float64, len(a.Shown)), make([]float64, len(a.Shown))
	for k, p := range a.Shown {
		attracted[k] = attraction(q, segment, p.Product)
	}
	clicks.PositionBased(examined)(attracted, clicked, random.Float64)
	var events []map[string]any
	for k, c := range clicked {
		if c > 0 && a.QueryID != "" {
			events = append(events, map[string]any{"action_name": "click", "query_id": a.QueryID, "client_id": form.Get("client"),
				"event_attributes": map[string]any{"object": map[string]any{"object_id": a.Shown[k].ID}, "position": map[string]any{"ordinal": k + 1}}})
		}
	}
	if len(events) == 0 {
		return nil
	}
	text, err := json.Marshal(events)
	if err != nil {
		return err
	}
	return u.do(ctx, "/events", "application/json", text, nil)
}

// do posts a body and reads the answer.
func (u *Users) do(ctx context.Context, path, kind string, body []byte, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	reply, err := u.client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	got, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode >= 300 {
		err = fmt.Errorf("POST %s: %s: %s", path, reply.Status, got)
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(got, answer)
}
