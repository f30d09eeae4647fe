package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Stream follows the node's events from after the event lastID (0: from now on) and calls f for each, until ctx is done,
// f returns an error, or the node ends the stream (io.EOF). A caller goes on by calling again with the last ID it saw.
func (c *Client) Stream(ctx context.Context, lastID uint64, f func(Event) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/v1/stream", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if lastID > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatUint(lastID, 10))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("asking node %s: %w", c.base, plain(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return errors.Join(answerError(resp, body), err)
	}
	return readEvents(resp.Body, f)
}

// readEvents parses the part of the server-sent events format that the node writes: id, event and one data line each.
func readEvents(r io.Reader, f func(Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxAnswer)
	var e Event
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			id, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return fmt.Errorf("event stream: id %q is not a number", value)
			}
			e.ID = id
		case "event":
			e.Kind = value
		case "data":
			e.Data = []byte(value)
		}
		if lines.Text() != "" || e.Data == nil {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
		e = Event{}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}
