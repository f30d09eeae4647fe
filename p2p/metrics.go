package p2p

import "github.com/prometheus/client_golang/prometheus"

// metrics are the counters of one host. All label values come from fixed sets: topics we joined, verdicts, reasons.
type metrics struct {
	connected prometheus.Gauge
	messages  *prometheus.CounterVec // topic, verdict
	dropped   *prometheus.CounterVec // reason
	reg       prometheus.Registerer
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "daybreak_p2p_connected_peers", Help: "Peers of genesis connected now."}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "daybreak_p2p_messages_total", Help: "Gossip messages judged, by topic and verdict."},
			[]string{"topic", "verdict"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "daybreak_p2p_dropped_total", Help: "Messages, streams and connections dropped unjudged, by reason."},
			[]string{"reason"}),
		reg: reg,
	}
	if reg == nil {
		return m, nil
	}
	for i, c := range m.all() {
		if err := reg.Register(c); err != nil {
			for _, done := range m.all()[:i] {
				reg.Unregister(done)
			}
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.connected, m.messages, m.dropped}
}

func (m *metrics) close() {
	if m.reg == nil {
		return
	}
	for _, c := range m.all() {
		m.reg.Unregister(c)
	}
}

func (m *metrics) drop(reason string) { m.dropped.WithLabelValues(reason).Inc() }
