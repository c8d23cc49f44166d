// Program search is a shop whose search learns: bleve and vectors find products, plrank ranks them, simulated users click, and each night
// a model is trained on the clicks, which the gate lets through if it is better. docs/search.md explains it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type options struct {
	listen, folder, vectors      string
	days, day, products, queries int
	season                       int
	share                        float64
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "localhost:8080", "`address` of the page")
	flag.StringVar(&o.folder, "state", "state", "`folder` of index, log and models: the program goes on where it ended")
	flag.StringVar(&o.vectors, "vectors", "", "`file` of vectors: CSV of the id of a product or the text of a query, and numbers")
	flag.IntVar(&o.days, "days", 6, "`number` of days that users come; then the page is served on")
	flag.IntVar(&o.day, "day", 2000, "`number` of logged impressions a day")
	flag.IntVar(&o.products, "products", 5000, "`number` of products")
	flag.IntVar(&o.queries, "queries", 200, "`number` of different queries of the users")
	flag.IntVar(&o.season, "season", 0, "`day` from which deliveries and tastes are others; 0: never")
	flag.Float64Var(&o.share, "share", .5, "`part` of the searches whose rankings are drawn; others have a challenger, if there is one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func (o options) check() error {
	switch {
	case o.season < 0:
		return fmt.Errorf("-season %d: want the number of a day, or 0", o.season)
	case o.days < 0 || o.day < 1 || o.products < 1:
		return fmt.Errorf("-days %d, -day %d, -products %d: want 0, 1 and 1, or more", o.days, o.day, o.products)
	case o.queries < 1 || o.queries > mostQueries:
		return fmt.Errorf("-queries %d: want 1 to %d", o.queries, mostQueries)
	case !(o.share > 0 && o.share <= 1):
		return fmt.Errorf("-share %v: want more than 0, and at most 1", o.share)
	}
	return nil
}

// start opens the folder of the state, and serves the page. The program goes on where it ended.
func start(o options) (*Loop, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, folder := range []string{"days", "models"} {
		if err := os.MkdirAll(filepath.Join(o.folder, folder), 0o755); err != nil {
			return nil, err
		}
	}
	shop := newShop(o.products, o.queries, 1)
	vectors, err := newVectors(shop, o.vectors)
	if err != nil {
		return nil, err
	}
	engine, err := openEngine(o.folder, shop, vectors)
	if err != nil {
		return nil, err
	}
	s := &Server{shop: shop, engine: engine, live: &Live{path: filepath.Join(o.folder, "model.npz")}, share: o.share}
	if s.journal, err = newJournal(filepath.Join(o.folder, "log"), func() string { return prefix(s.day.Load()) }); err != nil {
		return nil, err
	}
	truth, err := newTruth(shop, engine)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, err
	}
	address := listener.Addr().(*net.TCPAddr)
	base := "http://" + address.String()
	if address.IP.IsUnspecified() { // users come from this machine
		base = fmt.Sprintf("http://localhost:%d", address.Port)
	}
	l := &Loop{Server: s, folder: o.folder, users: newUsers(base, shop), truth: truth, length: int64(o.day), season: int64(o.season)}
	l.http, l.ended = newServer(s.handler(address.IP.IsLoopback())), make(chan error, 1)
	if err := l.resume(); err != nil {
		return nil, errors.Join(err, listener.Close(), engine.index.Close())
	}
	go l.live.Watch()
	go func() { l.ended <- l.http.Serve(listener) }()
	return l, nil
}

// run lets the days pass, and then serves the page until the context ends. Requests in flight are answered.
func run(ctx context.Context, o options) error {
	l, err := start(o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d products; day %d, with %d impressions\n", l.users.base, o.products, l.day.Load(), l.logged.Load())
	if err := l.run(ctx, o.days); err != nil && ctx.Err() == nil {
		return err
	}
	if r := l.last(); ctx.Err() == nil {
		fmt.Printf("true clicks a search: BM25 %.3f, fused %.3f, the model %.3f, best %.3f\n%s goes on; Ctrl-C ends it\n",
			r.BM25, r.Fused, r.ByScore, r.Best, l.users.base)
	}
	select {
	case err := <-l.ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(l.http.Shutdown(last), l.engine.index.Close())
}
