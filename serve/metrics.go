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

	impressions, events, failures prometheus.Counter   // of the click log
	syncs                         prometheus.Histogram // of its disk
}

func newMeasures(registry *prometheus.Registry) (*measures, error) {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	m := &measures{registry: registry, own: prometheus.NewRegistry()}
	metrics := promauto.With(m.own)
	m.requests = metrics.NewCounterVec(prometheus.CounterOpts{
		Name: "plrank_requests_total",
		Help: "Requests to /v1/rank, and those to other paths that failed, by HTTP status and model; " +
			"a request that failed before its model was known has none.",
	}, []string{"code", "model"})
	m.seconds = metrics.NewHistogramVec(prometheus.HistogramOpts{
		Name: "plrank_request_seconds", Help: "Time to answer a request to /v1/rank.",
		Buckets: prometheus.ExponentialBuckets(1e-4, 2, 15),
	}, []string{"model"})
	m.documents = metrics.NewHistogramVec(prometheus.HistogramOpts{
		Name: "plrank_request_documents", Help: "Documents of an answered request.", Buckets: prometheus.ExponentialBuckets(1, 2, 14),
	}, []string{"model"})
	m.loads = metrics.NewCounterVec(prometheus.CounterOpts{
		Name: "plrank_model_loads_total", Help: "Model files read, by model and result: ok or refused."}, []string{"model", "result"})
	m.versions = metrics.NewGaugeVec(prometheus.GaugeOpts{
		Name: "plrank_model_info", Help: "1 for the version of each model that is in use."}, []string{"model", "version"})
	m.unknown = metrics.NewCounterVec(prometheus.CounterOpts{
		Name: "plrank_unknown_categories_total", Help: "Texts of documents that the model does not know as categories, by model and feature."},
		[]string{"model", "feature"})
	m.drift = metrics.NewGaugeVec(prometheus.GaugeOpts{
		Name: "plrank_drift_index", Help: "Population stability index of a feature, or of the score, in the last requests against the " +
			"training data."}, []string{"model", "feature"})
	m.since = metrics.NewGaugeVec(prometheus.GaugeOpts{
		Name: "plrank_drift_since_timestamp_seconds", Help: "When a feature, or the score, began to differ from the training data by more " +
			"than chance; absent for others."}, []string{"model", "feature"})
	m.missing = metrics.NewGaugeVec(prometheus.GaugeOpts{
		Name: "plrank_missing_ratio", Help: "Share of missing values of a feature in the last requests."}, []string{"model", "feature"})
	m.impressions = metrics.NewCounter(prometheus.CounterOpts{Name: "plrank_impressions_total", Help: "Impressions logged."})
	m.events = metrics.NewCounter(prometheus.CounterOpts{Name: "plrank_events_total", Help: "Events logged."})
	m.failures = metrics.NewCounter(prometheus.CounterOpts{
		Name: "plrank_log_failures_total", Help: "Writes to the click log that failed, each of one or more requests."})
	m.syncs = metrics.NewHistogram(prometheus.HistogramOpts{
		Name: "plrank_log_sync_seconds", Help: "Time until the lines of one or more requests are on the disk.",
		Buckets: prometheus.ExponentialBuckets(1e-4, 2, 17),
	})
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
