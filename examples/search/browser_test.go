//go:build browser

package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A click in a browser is in the log, and the page shows what it promises. SCREENSHOT names a file for a picture of the page.
func TestClickInBrowserIsInLog(t *testing.T) {
	l := startLoop(t, t.TempDir())
	l.length = 600
	if err := l.run(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1300, 1000))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, stop = chromedp.NewContext(ctx)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	defer stop()

	if err := chromedp.Do(ctx,
		chromedp.Navigate(l.users.base),
		chromedp.SendKeys(chromedp.CSS("input[name=q]"), l.shop.Queries[0].Text),
		chromedp.Click(chromedp.CSS("form button")),
		chromedp.WaitVisible(chromedp.CSS("#results li")),
		chromedp.Click(chromedp.CSS("#results li:nth-child(3) button")),
		chromedp.WaitVisible(chromedp.CSS("#results li.clicked")),
		chromedp.WaitVisible(chromedp.CSS("#days svg")),
	); err != nil {
		t.Fatal(err)
	}
	query := evaluate[string](t, ctx, `document.querySelector("#results").dataset.query`)
	product := evaluate[string](t, ctx, `document.querySelector("#results li:nth-child(3)").dataset.id`)
	columns := evaluate[int](t, ctx, `document.querySelectorAll(".compared ol").length`)
	facets := evaluate[int](t, ctx, `document.querySelectorAll(".facet a").length`)
	if columns != 2 || facets < 5 {
		t.Errorf("%d rankings side by side, %d facets", columns, facets)
	}
	log, err := l.read(l.day.Load(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(log.Impressions); n != 1 || log.Impressions[0].ID != query {
		t.Fatalf("%d impressions, want the one of the page", n)
	}
	if clicked := clickedProducts(&log.Impressions[0]); len(clicked) != 1 || clicked[0] != product {
		t.Errorf("clicks on %q in the log, want %q", clicked, product)
	}
	if path := os.Getenv("SCREENSHOT"); path != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
