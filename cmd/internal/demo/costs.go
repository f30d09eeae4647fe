package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// costs prints what the validators took: printed, not judged, since it depends on the machine.
func (s *show) costs(ctx context.Context) error {
	s.title("What it takes")
	for _, v := range s.net.Nodes {
		m, err := scrape(ctx, v.OperatorURL+"/metrics")
		if err != nil {
			return fmt.Errorf("metrics of validator %d: %w", v.Index, err)
		}
		count := m["daybreak_slot_end_to_key_seconds_count"]
		if count == 0 {
			return fmt.Errorf("validator %d recovered no key in time", v.Index)
		}
		mean := m["daybreak_slot_end_to_key_seconds_sum"] / count * 1000
		s.say("", "validator %d: %.0f MiB of memory, %.1f s of processor time; %.0f keys, %.0f ms after their slot on average",
			v.Index, m["process_resident_memory_bytes"]/(1<<20), m["process_cpu_seconds_total"], count, mean)
	}
	return nil
}

// scrape reads the plain samples of a metrics page: name and value, without labels.
func scrape(ctx context.Context, url string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out := make(map[string]float64)
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 8<<20))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = v
		}
	}
	return out, lines.Err()
}
