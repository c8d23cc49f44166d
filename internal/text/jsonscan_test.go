package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// copied puts a valid JSON text together again from what the functions of this package give.
func copied(value []byte) string {
	var b strings.Builder
	switch value[0] {
	case '[':
		b.WriteByte('[')
		for i, v := range JSONElements(value) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(copied(v))
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		for name, v := range JSONMembers(value) {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			quoted, _ := json.Marshal(name)
			b.Write(quoted)
			b.WriteByte(':')
			b.WriteString(copied(v))
		}
		b.WriteByte('}')
	default:
		return string(value)
	}
	return b.String()
}

// FuzzScan: valid JSON has the same value after it has been taken apart and put together.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		` { "a" : [ 1 , -2.5e+3, null ,true,{ } , [ ] , "x\"],}\\" ] , "\u0061\n" : { "b":[[[]]]} } `,
		`[]`, `{}`, ` 3 `, `"\\"`, "[1\n,\t2\r]", `{"":""}`, `[ ]`, `{"a":1,"a":2}`, "\"\xff\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		value, rest := CutJSON(SkipJSONBlanks([]byte(text)))
		if len(SkipJSONBlanks(rest)) > 0 {
			t.Errorf("%q begins with %q", text, value)
		}
		var want, got any
		if json.Unmarshal([]byte(text), &want) != nil { // a number beyond float64
			return
		}
		again := copied(value)
		if err := json.Unmarshal([]byte(again), &got); err != nil {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) {
			t.Errorf("%q became %q", text, again)
		}
	})
}

func TestTextsThatAreNotUnicodeAreFound(t *testing.T) {
	for value, place := range map[string]string{
		"\"\xff\"":                                   "the value",
		`{"a":[1,{"b c":["x","\ud800"]}]}`:           "a[1].b c[1]",
		"[0,[\"\xc3\"]]":                             "[1][0]",
		`{"a":"\udc00"}`:                             "a",
		`{"a":"\uD83D x"}`:                           "a",
		`{"a":"\ud83d\ud83d\ude00"}`:                 "a",
		"{\"a\":{\"\xff\":1}}":                       "a.the name \"?\"",
		`{"\udfff":1}`:                               `the name "\udfff"`,
		`{"a":"\\\ud800"}`:                           "a",
		`[[[[[[[[[["\ud800"]]]]]]]]]]`:               "[0][0][0][0][0][0][0][0]",
		`{"a":"\ud83d\ude00\u0000\ufffd � \\ud800"}`: "",
		`[" \u2028", "\\", 1e5, {}]`:                 "",
	} {
		want := ""
		if place != "" {
			want = fmt.Sprint(place, ": ", ErrText)
		}
		err := CheckJSONTexts([]byte(value))
		if got := fmt.Sprint(err); err != nil && (got != want || !errors.Is(err, ErrText)) || err == nil && want != "" {
			t.Errorf("%q: error %v, want %q", value, err, want)
		}
	}
}

// FuzzUnquote: a text is decoded as it was before it was encoded, or not at all.
func FuzzUnquote(f *testing.F) {
	for _, text := range []string{"", "a", "ü\"\\", "\xff", "\U0001F600", "\x00\u2028", "\ufffd", "\b\f\n\r\t", `\b\f\n\r\t\/\\\"`, `\uD83D\uDe00x\u00fC`, `\ud83dx`, `\ud83d\u0041`, `\ude00`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := UnquoteJSON(quoted); err != nil || got != strings.ToValidUTF8(text, "\ufffd") && got != string([]rune(text)) {
			t.Errorf("%q became %q, %v", text, got, err)
		}
		raw := []byte(`"` + text + `"`)
		if !json.Valid(raw) {
			return
		}
		got, err := UnquoteJSON(raw)
		if err != nil {
			return
		}
		var again string
		if err := json.Unmarshal(raw, &again); err != nil || got != again || CheckJSONTexts(raw) != nil {
			t.Errorf("%q became %q, want %q, %v", raw, got, again, err)
		}
	})
}
