package serve

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/plrank/plrank/ranker"
)

// measures holds the metrics of the service.
type measures struct {
	registry  *prometheus.Registry
	own       *prometheus.Registry // has the metrics below, and is in registry
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	documents *prometheus.HistogramVec
	loads     *prometheus.CounterVec
	versions  *prometheus.GaugeVec
	unknown   *prometheus.CounterVec

	drift, since, missing *prometheus.GaugeVec // by model and feature, see driftWatch

	impressions, events, failures prometheus.Counter  // of the click log
	syncs                         prometheus.Observer // of its disk
}

func newMeasures(registry *prometheus.Registry) (*measures, error) {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	m := &measures{registry: registry, own: prometheus.NewRegistry()}
	metrics := promauto.With(m.own)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return metrics.NewCounterVec(prometheus.CounterOpts{Name: "plrank_" + name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return metrics.NewGaugeVec(prometheus.GaugeOpts{Name: "plrank_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, first float64, buckets int, labels ...string) *prometheus.HistogramVec {
		return metrics.NewHistogramVec(prometheus.HistogramOpts{Name: "plrank_" + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(first, 2, buckets)}, labels)
	}
	m.requests = counter("requests_total", "Requests to /v1/rank, and those to other paths that failed, by HTTP status and model; "+
		"a request that failed before its model was known has none.", "code", "model")
	m.seconds = histogram("request_seconds", "Time to answer a request to /v1/rank.", 1e-4, 15, "model")
	m.documents = histogram("request_documents", "Documents of an answered request.", 1, 14, "model")
	m.loads = counter("model_loads_total", "Model files read, by model and result: ok or refused.", "model", "result")
	m.versions = gauge("model_info", "1 for the version of each model that is in use.", "model", "version")
	m.unknown = counter("unknown_categories_total", "Texts of documents that the model does not know as categories, by model and feature.",
		"model", "feature")
	m.drift = gauge("drift_index", "Population stability index of a feature, or of the score, in the last requests against the training data.",
		"model", "feature")
	m.since = gauge("drift_since_timestamp_seconds", "When a feature, or the score, began to differ from the training data by more than "+
		"chance; absent for others.", "model", "feature")
	m.missing = gauge("missing_ratio", "Share of missing values of a feature in the last requests.", "model", "feature")
	m.impressions = counter("impressions_total", "Impressions logged.").WithLabelValues()
	m.events = counter("events_total", "Events logged.").WithLabelValues()
	m.failures = counter("log_failures_total", "Writes to the click log that failed, each of one or more requests.").WithLabelValues()
	m.syncs = histogram("log_sync_seconds", "Time until the lines of one or more requests are on the disk.", 1e-4, 17).WithLabelValues()
	if err := registry.Register(m.own); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	return m, nil
}

// count counts the values of documents that a model does not know, by column.
func (m *measures) count(name string, model *served, unknowns []int) {
	for column, n := range unknowns {
		if n > 0 {
			m.unknown.WithLabelValues(name, model.FeatureName(column)).Add(float64(n))
		}
	}
}

// read counts that a model was read, whose version is in use from now on.
func (m *measures) read(model, version string) {
	m.loads.WithLabelValues(model, "ok").Inc()
	m.versions.DeletePartialMatch(prometheus.Labels{"model": model}) // there is one for each model
	for _, gauge := range []*prometheus.GaugeVec{m.drift, m.since, m.missing} {
		gauge.DeletePartialMatch(prometheus.Labels{"model": model}) // of the model before
	}
	m.versions.WithLabelValues(model, version).Set(1)
}

// drifted sets the metrics of drift.
func (m *measures) drifted(model *served, shifts []ranker.Shift) {
	m.since.DeletePartialMatch(prometheus.Labels{"model": model.name})
	for _, s := range shifts {
		feature := "score"
		if s.Column < len(model.columns) {
			feature = model.FeatureName(s.Column)
		}
		m.drift.WithLabelValues(model.name, feature).Set(s.PSI)
		m.missing.WithLabelValues(model.name, feature).Set(s.Missing[1])
		if s.Alarm {
			m.since.WithLabelValues(model.name, feature).Set(float64(s.Since.Unix()))
		}
	}
}
