//go:build browser

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A click in a browser is in the log, and the page shows what it promises, on a phone, too. SCREENSHOTS names a folder for pictures.
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
	facets := evaluate[int](t, ctx, `document.querySelectorAll(".facet button").length`)
	display := evaluate[string](t, ctx, `getComputedStyle(document.querySelector("main")).display`)
	if columns != 2 || facets < 5 || display != "grid" {
		t.Errorf("%d rankings side by side, %d facets, display %s", columns, facets, display)
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
	picture(t, ctx, "wide.png")
	checkNarrow(t, ctx)

	// A facet searches again, among its products.
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(".facet button")), chromedp.WaitVisible(chromedp.CSS("#chosen"))); err != nil {
		t.Fatal(err)
	}
	chosen := evaluate[string](t, ctx, `document.querySelector("#chosen").textContent`)
	const other = `[...document.querySelectorAll("#results small:not(.found)")].filter(e => !e.textContent.startsWith(%q)).length`
	others := evaluate[int](t, ctx, fmt.Sprintf(other, chosen))
	if !slices.Contains(brands, chosen) || others > 0 {
		t.Errorf("of the brand %q, and %d products of others", chosen, others)
	}
}

// checkNarrow checks that the page fits a phone, with results and the table of days.
func checkNarrow(t *testing.T, ctx context.Context) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(360, 740), chromedp.WaitVisible(chromedp.CSS("#days table"))); err != nil {
		t.Fatal(err)
	}
	if width := evaluate[int](t, ctx, `document.documentElement.scrollWidth`); width > 360 {
		t.Errorf("at 360 pixels the page is %d wide", width)
	}
	const outside = `[...document.querySelectorAll("button, input[name=q], select, li")].filter(e => e.type != "hidden" &&
		(e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > innerWidth)).length`
	if n := evaluate[int](t, ctx, outside); n > 0 {
		t.Errorf("at 360 pixels %d elements are outside of the screen", n)
	}
	picture(t, ctx, "narrow.png")
}

// picture writes a picture of the page to the folder SCREENSHOTS, if there is one.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	pixels, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), pixels, 0o644)
	}
	if err != nil {
		t.Fatal(err)
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
