package node

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics of one node, in a registry of their own: several nodes may run in one process.
type metrics struct {
	registry  *prometheus.Registry
	slotToKey prometheus.Histogram
	keys      *prometheus.CounterVec
	missed    *prometheus.CounterVec
	partials  *prometheus.CounterVec
	entries   *prometheus.CounterVec
	height    prometheus.Gauge
	final     prometheus.Gauge
	headTime  prometheus.Gauge
	peers     prometheus.Gauge
	pool      prometheus.Gauge
	mempool   prometheus.Gauge
	leader    prometheus.Gauge
	share     prometheus.Gauge
}

func newMetrics() *metrics {
	r := prometheus.NewRegistry()
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "daybreak", Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "daybreak", Name: name, Help: help}, []string{label})
		r.MustRegister(c)
		return c
	}
	m := &metrics{
		registry: r,
		slotToKey: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "daybreak", Name: "slot_end_to_key_seconds",
			Help:    "Time from the end of a slot to its key, of keys recovered while the slot was fresh.",
			Buckets: []float64{.005, .01, .02, .03, .05, .075, .1, .15, .2, .3, .5, 1, 2, 5},
		}),
		keys:     counter("keys_total", "Slot keys taken in.", "source"),
		missed:   counter("slots_missed_total", "Slots without a key two seconds after their end.", "reason"),
		partials: counter("partials_total", "Partials that came by gossip.", "verdict"),
		entries:  counter("entry_events_total", "Events of the scheduler in applied blocks.", "event"),
		height:   gauge("head_height", "Number of the last applied block."),
		final:    gauge("final_height", "Number of the newest final block: enough validators voted for it."),
		headTime: gauge("head_timestamp_seconds", "Timestamp of the last applied block."),
		peers:    gauge("peers", "Validators this one is connected to."),
		pool:     gauge("pool_identities", "Identities whose partials are being collected."),
		mempool:  gauge("mempool_transactions", "Transactions waiting for a block."),
		leader:   gauge("leader", "1 while this validator orders the log."),
		share:    gauge("has_share", "1 while this validator has a share of the group key; 0 before the ceremony's end, and if the share is lost."),
	}
	r.MustRegister(m.slotToKey, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
