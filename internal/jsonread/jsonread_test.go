package jsonread

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// copied puts a valid JSON text together again from what the functions of this package give.
func copied(value []byte) string {
	var b strings.Builder
	switch value[0] {
	case '[':
		b.WriteByte('[')
		for i, v := range NewLenient(value).Elements() {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(copied(v))
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		r := NewLenient(value)
		for name := range r.Names() {
			v := r.Value()
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			quoted, _ := json.Marshal(string(name))
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

// FuzzScan: a text is JSON as package jsontext reads it, or has an error. Valid JSON has the same value after it has been taken apart
// and put together.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		` { "a" : [ 1 , -2.5e+3, null ,true,{ } , [ ] , "x\"],}\\" ] , "\u0061\n" : { "b":[[[]]]} } `,
		`[]`, `{}`, ` 3 `, `"\\"`, "[1\n,\t2\r]", `{"":""}`, `[ ]`, `{"a":1,"a":2}`, "\"\xff\"",
		`{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{1:2}`, `[`, `]`, `{"a":1]`, `[1}`, `-`, `01`, `-0`, `1.`, `.5`, `1e`, `1e+`, `+1`, `1.e5`,
		`-01.5e-07`, `nul`, `truex`, "[tru", `"\ud800"`, "\"\x01\"", `"\x"`, `"\u12"`, `"a`, `"\`, "\x00", "1\x00", `{"\ud800":1}`, "\ufeff1", "[1]\v",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []*Reader{New([]byte(text)), NewLenient([]byte(text))} {
			r.Value()
			valid := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(r.anyBytes))
			if err := r.End(); (err == nil) != valid {
				t.Fatalf("%q: error %v, valid %t", text, err, valid)
			}
		}
		if !json.Valid([]byte(text)) {
			return
		}
		r := NewLenient([]byte(text))
		value := r.Value()
		if err := r.End(); err != nil {
			t.Fatalf("%q: %v", text, err)
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

func TestDepthIsBounded(t *testing.T) {
	for _, brackets := range [][2]string{{"[", "]"}, {`{"":`, "0}"}} {
		for depth, want := range map[int]string{mostDepth: "", mostDepth + 1: "exceeded max depth"} {
			r := New([]byte(strings.Repeat(brackets[0], depth) + brackets[1] + strings.Repeat(brackets[1][len(brackets[1])-1:], depth-1)))
			r.Value()
			if err := r.End(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%d times %s: %.100v, want %q", depth, brackets[0], err, want)
			}
		}
	}
}

func TestPlaceOfAnErrorIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"\"\xff\"":                                   `invalid UTF-8`,
		`{"a":[1,{"b c":["x","\ud800"]}]}`:           ` in string within "/a/1/b c/1" after offset 21`,
		"[0,[\"\xc3\"]]":                             `invalid UTF-8 within "/1/0" after offset 5`,
		`{"a":"\ud83d\ud83d\ude00"}`:                 `within "/a"`,
		"{\"a\":{\"\xff\":1}}":                       `invalid UTF-8 within "/a`,
		`{"a":"\\\ud800"}`:                           `within "/a"`,
		`{"a":"\ud83d\ude00\u0000\ufffd � \\ud800"}`: "",
		` [" \u2028", "\\", 1e5, {}, [{}]] `:         "",
		`{"a": [1, 2`:                                `unexpected EOF`,
		`{"a": [1, NaN]}`:                            `invalid character 'N' at start of value within "/a/1" after offset 10`,
		`[1, 2],`:                                    `invalid character ','`,
		`[1] [2]`:                                    `byte 5: want one value of JSON`,
		` `:                                          `want one value of JSON`,
	} {
		r := New([]byte(text))
		r.Value()
		if err := r.End(); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		for read, whole := range map[string]func(*Reader){
			"members": func(r *Reader) {
				for range r.Names() {
					r.Value()
				}
			},
			"elements": func(r *Reader) {
				for range r.Elements() {
					continue
				}
			},
		} {
			if (strings.TrimSpace(text) + " ")[0] != map[string]byte{"members": '{', "elements": '['}[read] {
				continue
			}
			r := New([]byte(text))
			whole(r)
			if err := r.End(); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s of %q: error %v, want %q", read, text, err, want)
			}
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
		if got, err := Unquote(quoted); err != nil || got != strings.ToValidUTF8(text, "\ufffd") && got != string([]rune(text)) {
			t.Errorf("%q became %q, %v", text, got, err)
		}
		raw := []byte(`"` + text + `"`)
		if !json.Valid(raw) {
			return
		}
		got, err := Unquote(raw)
		if err != nil {
			return
		}
		var again string
		if err := json.Unmarshal(raw, &again); err != nil || got != again {
			t.Errorf("%q became %q, want %q, %v", raw, got, again, err)
		}
	})
}
