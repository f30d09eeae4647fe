package api

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzReadEvents holds that the reader of a node's stream ends with an error on whatever comes, and that the events it told say the
// same when they are written as a node writes them.
func FuzzReadEvents(f *testing.F) {
	f.Add(": hello\n\nid: 42\nevent: key\ndata: {\"slot\":1}\n\nevent: gap\ndata: {}\n\n")
	f.Add("id: 1\ndata: a\ndata: b\n\n")
	f.Add("id:18446744073709551616\n\n")
	f.Add("data\n\n\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		read := func(text string) (told string, err error) {
			err = readEvents(strings.NewReader(text), func(e Event) error {
				told += fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, e.Data)
				return nil
			})
			return told, err
		}
		told, err := read(stream)
		if err == nil {
			t.Fatal("a stream that has ended is no error")
		}
		if again, err := read(told); again != told || !errors.Is(err, io.EOF) {
			t.Errorf("%q gives %q, which gives %q, %v", stream, told, again, err)
		}
	})
}
