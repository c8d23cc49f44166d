// Program search is a shop whose search learns: bleve finds products, plrank ranks them, simulated users click, and each night
// a model is trained on the clicks, which the gate lets through if it is better. docs/search.md explains it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
)

type options struct {
	listen, folder               string
	days, day, products, queries int
	share                        float64
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "localhost:8080", "`address` of the page")
	flag.StringVar(&o.folder, "state", "state", "`folder` of index, log and models: the program goes on where it ended")
	flag.IntVar(&o.days, "days", 6, "`number` of days that users come; then the page is served on")
	flag.IntVar(&o.day, "day", 2000, "`number` of logged impressions a day")
	flag.IntVar(&o.products, "products", 5000, "`number` of products")
	flag.IntVar(&o.queries, "queries", 200, "`number` of different queries of the users")
	flag.Float64Var(&o.share, "share", .5, "`part` of the searches whose rankings are drawn and logged")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

// start opens the folder of the state, and serves the page. The program goes on where it ended.
func start(o options) (*Loop, error) {
	for _, folder := range []string{"days", "models"} {
		if err := os.MkdirAll(filepath.Join(o.folder, folder), 0o755); err != nil {
			return nil, err
		}
	}
	shop := newShop(o.products, o.queries, 1)
	engine, err := openEngine(o.folder, shop)
	if err != nil {
		return nil, err
	}
	journal, err := newJournal(filepath.Join(o.folder, "log"))
	if err != nil {
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
	s := &Server{shop: shop, engine: engine, journal: journal, live: &Live{path: filepath.Join(o.folder, "model.npz")}, share: o.share}
	l := &Loop{s, o.folder, &Users{base: "http://" + listener.Addr().String(), shop: shop}, truth, int64(o.day)}
	if err := l.resume(); err != nil {
		return nil, err
	}
	go l.live.Watch()
	go http.Serve(listener, s.handler())
	return l, nil
}

func run(ctx context.Context, o options) error {
	l, err := start(o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d products; day %d, with %d impressions\n", l.users.base, o.products, l.day.Load(), l.logged.Load())
	if err := l.run(ctx, o.days); ctx.Err() != nil {
		return nil
	} else if err != nil {
		return err
	}
	r := l.last()
	fmt.Printf("true clicks a search: BM25 %.3f, the model %.3f, the best order of the candidates %.3f\n%s goes on; Ctrl-C ends it\n", r.BM25, r.ByScore, r.Best, l.users.base)
	<-ctx.Done()
	return nil
}
