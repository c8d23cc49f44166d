package cli

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/command"
)

func TestNumbersAreWithinTheirRange(t *testing.T) {
	for args, want := range map[string]string{
		"-n 1":                        "",
		"-n 0x10":                     "",
		"-n 0":                        `-n 0: want 1 to 20`,
		"-n 21":                       `-n 21: want 1 to 20`,
		"-n 1e1":                      "want 1 to 20",
		"-n " + "9223372036854775808": "want 1 to 20",
		"-body 0":                     "want 1 to 30",
		"-body 30":                    "",
		"-t 25h":                      `-t 25h: want a time from 0s to 24h0m0s, such as 10s`,
		"-t 3s":                       "",
		"-x 0":                        "",
		"-x 1e308":                    "",
		"-x NaN":                      `-x NaN: want a finite number that is not below 0`,
		"-x Inf":                      "not below 0",
		"-x -1e-9":                    "not below 0",
		"-x 1e309":                    "not below 0",
	} {
		n, body, wait, x := 2, int64(3), 4*time.Second, 5.
		f := Flags{{Name: "n", Value: Int(&n, 1, 20)}, {Name: "body", Value: Int(&body, 1, 30)}, {Name: "t", Value: Duration(&wait, 0, 24*time.Hour)},
			{Name: "x", Value: Float(&x, 0, "a finite number that is not below 0")}}.Set()
		err := command.Parse(f, strings.Fields(args))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
		if err != nil && (n != 2 || body != 3 || wait != 4*time.Second || x != 5) {
			t.Errorf("%s: %d, %d, %v, %v: changed by an error", args, n, body, wait, x)
		}
	}
	x := math.Pi
	if got := (Flags{{Name: "x", Value: Float(&x, 0, "")}}).Set().Lookup("x").DefValue; got != "3.141592653589793" {
		t.Errorf("the default is %s", got)
	}
}
