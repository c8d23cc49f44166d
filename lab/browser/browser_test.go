// Package browser reads pages of plrank report in a real browser, Chromium. It is a module of its own, with the client of the
// browser's protocol:
//
//	go test ./...
//	PLRANK_SCREENSHOTS=shots go test ./...
package browser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// hostile are names that a page must show, and not obey.
var hostile = []string{`<script>document.title='obeyed'</script>`, `"><img src=x onerror="document.title='obeyed'">`, "a\u202eb\u2066", strings.Repeat("wide_", 60)}

// collection writes documents of two groups, with a feature of text and names that are hostile.
func collection(t *testing.T, path string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 0))
	quote := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	text := []string{"label,qid,docid,brand"}
	for _, name := range hostile {
		text[0] += "," + quote(name)
	}
	text[0] += ",colour"
	for q := range 60 {
		for d := range 8 + rng.IntN(8) {
			x := []float64{rng.Float64(), rng.NormFloat64(), rng.ExpFloat64(), rng.Float64()}
			label := min(4, max(0, int(3*x[0]+x[1])))
			line := fmt.Sprintf("%d,%s,%s,%s", label, quote(fmt.Sprint(hostile[q%4], q)), quote(fmt.Sprint(hostile[d%4], d)), quote(hostile[rng.IntN(2)]))
			for _, v := range x {
				line += fmt.Sprintf(",%.3f", v)
			}
			text = append(text, line+","+quote(hostile[rng.IntN(4)]))
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pages makes the pages that are read, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	plrank := filepath.Join(dir, "plrank")
	in := func(path string) string { return filepath.Join(dir, path) }
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-C", "../..", "-o", plrank, "./cmd/plrank")
	data := in("shop.csv")
	collection(t, data)
	for name, loss := range map[string]string{"a": "plrank-exact", "b": "plrank-exact+2*group-exposure"} {
		run(plrank, "train", "-data", data, "-group-column", "brand", "-categorical", "colour", "-cache", "off", "-loss", loss, "-epochs", "4", "-out", in(name))
	}
	run(plrank, "report", "-cache", "off", in("a"), in("b"), "-out", in("two.html"))
	if err := os.Rename(data, in("moved.csv")); err != nil {
		t.Fatal(err)
	}
	run(plrank, "report", "-cache", "off", in("a"), "-out", in("gone.html"))
	return map[string]string{"run": in("a/report.html"), "two": in("two.html"), "gone": in("gone.html")}
}

// reading is what the page is asked when all of it is open. Focusable elements are all reached by the tabulator key.
const reading = `(() => {
	document.querySelectorAll('details').forEach(d => d.open = true);
	const headings = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1]);
	const count = s => document.querySelectorAll(s).length;
	return {
		title: document.title, language: document.documentElement.lang, scripts: count('script'),
		overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
		one: ['h1', 'main', 'header', 'footer', 'nav[aria-label]'].filter(s => count(s) != 1),
		jumps: headings.filter((h, i) => h > (i ? headings[i-1] : 0) + 1).length,
		unnamed: count('img:not([alt]), img[alt=""]') + [...document.querySelectorAll('[aria-labelledby]')].filter(e => !document.getElementById(e.getAttribute('aria-labelledby'))).length,
		broken: [...document.images].filter(i => !i.naturalWidth).length + [...document.querySelectorAll('a')].filter(a => !document.querySelector(a.getAttribute('href'))).length,
		focusable: count('a[href], summary, [tabindex="0"]'),
	};
})()`

type answers struct {
	Title, Language          string
	Scripts, Overflow, Jumps int
	One                      []string
	Unnamed, Broken          int
	Focusable                int
}

func TestPagesInABrowser(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox) // as root, and of files that are ours
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	for name, path := range pages(t) {
		for _, width := range []int64{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				t.Run(fmt.Sprintf("%s-%d-%s", name, width, scheme), func(t *testing.T) {
					read(t, ctx, path, width, scheme)
				})
			}
		}
	}
}

func read(t *testing.T, ctx context.Context, path string, width int64, scheme string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(err)
	listening, stop := context.WithCancel(ctx)
	defer stop()
	console := chromedp.Console(listening)
	must(chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate("file://"+path)))
	screenshot(t, ctx, "closed")
	a, err := chromedp.Run(ctx, chromedp.Evaluate[answers](reading))
	must(err)
	screenshot(t, ctx, "open")
	if a.Overflow > 0 || a.Scripts > 0 || len(a.One) > 0 || a.Jumps > 0 || a.Unnamed > 0 || a.Broken > 0 || a.Language != "en" || !strings.HasPrefix(a.Title, "Ranking report") {
		t.Errorf("%+v", a)
	}
	back, err := chromedp.Run(ctx, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`))
	must(err)
	if want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}[scheme]; back != want {
		t.Errorf("the background is %s, want %s", back, want)
	}
	must(chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`window.reached = new Set(); document.addEventListener('focusin', e => reached.add(e.target))`)))
	for range a.Focusable + 1 {
		must(chromedp.Do(ctx, chromedp.KeyEvent("\t")))
	}
	reached, err := chromedp.Run(ctx, chromedp.Evaluate[int](`reached.size`))
	must(err)
	if reached < a.Focusable || a.Focusable < 8 {
		t.Errorf("the tabulator key reaches %d of %d elements", reached, a.Focusable)
	}
	const last = "the last message"
	must(chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`console.log("`+last+`")`)))
	for message, err := range console {
		must(err)
		if message.Text == last {
			break
		}
		t.Errorf("console: %v", message)
	}
}

// screenshot writes a picture of the page into the folder of PLRANK_SCREENSHOTS, if there is one.
func screenshot(t *testing.T, ctx context.Context, state string) {
	folder := os.Getenv("PLRANK_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(t.Name())+"-"+state+".png"), png, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
