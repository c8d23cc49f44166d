package testkit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/npzfile"
)

// LinearModel writes a model of three features, 1, 5 and 9, with the score w·x.
func LinearModel(t testing.TB, path string, w ...float64) {
	t.Helper()
	header := json.RawMessage(`{"format":"plrank model","version":2,"kind":"mlp","settings":{"features":3,"activation":"relu"},
		"dtype":"float32",
		"transform":{"Spec":"none","Inputs":3,"Columns":[0,1,2],"Parts":[{"Name":"none"}]},"featureIDs":[1,5,9],"gain":"exp2"}`)
	err := npzfile.Write(path, header, []npzfile.Array{{Name: "w0", Shape: []int{3}, Data: w},
		{Name: "b0", Shape: []int{1}, Data: []float64{0}}})
	if err != nil {
		t.Fatal(err)
	}
}

// SegmentForest writes a forest of one tree on features 1, 5 and 9: 4 × feature 5 if feature 1, a query feature, is 0, and else
// 2 × feature 9, which are 0 or 1.
func SegmentForest(t testing.TB, path string) {
	t.Helper()
	header := json.RawMessage(`{"format":"plrank model","version":2,"kind":"forest","settings":{"inputs":3},"dtype":"float64",
		"transform":{"Spec":"raw","Inputs":3,"Columns":[0,1,2],"Parts":[{"Name":"raw"}]},"featureIDs":[1,5,9],"gain":"exp2"}`)
	err := npzfile.Write(path, header, []npzfile.Array{{Name: "trees", Shape: []int{1, 2}, Data: []float64{3, 4}},
		{Name: "nodes", Shape: []int{3, 7}, Data: []float64{ // column, threshold, no set, missing values to the right, children
			0, .5, -1, 0, 0, 1, 2,
			1, .5, -1, 0, 0, ^0, ^1,
			2, .5, -1, 0, 0, ^2, ^3}},
		{Name: "leaves", Shape: []int{4}, Data: []float64{0, 4, 0, 2}}})
	if err != nil {
		t.Fatal(err)
	}
}

// DrawRequest returns a request with that number of documents and of ranks to draw.
func DrawRequest(documents, ranks int) string {
	return fmt.Sprintf(`{"documents": [%s{}], "draw": {"cutoff": %d, "seed": 1}}`, strings.Repeat("{},", documents-1), ranks)
}

// InFlight opens a connection with a request whose body of length bytes the service waits for:
// it has answered "100 Continue".
func InFlight(t *testing.T, url string, length int) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", length)
	answer := bufio.NewReader(conn)
	if line, err := answer.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err := answer.ReadString('\n'); err != nil || line != "\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return conn, answer
}

// Await waits until done, or fails the test after 20 seconds.
func Await(t *testing.T, event string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("after 20 s still waiting for: %s", event)
			return
		}
	}
}
