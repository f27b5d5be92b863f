// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CheckInCheckOut lets users check library items in and out, each user one
// transaction after another with think time between.
//
// +kubebuilder:validation:XValidation:rule="!has(self.arrivals) || !has(self.rampUp)",message="rampUp has no effect with arrivals: remove it"
type CheckInCheckOut struct {
	// users is the number of concurrent users over all runners.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 10000",message="checkInCheckOut.users must be from 1 to 10000"
	Users int32 `json:"users"`

	// rampUp is the time over which the users start. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	RampUp *metav1.Duration `json:"rampUp,omitempty"`

	// arrivals make the load open: transactions are due at a rate, whatever the
	// response times, and count from when they are due. users is then the number
	// of users that share them. Absent: each user begins the next transaction
	// when the previous one and its pauses are over.
	// +optional
	Arrivals *Arrivals `json:"arrivals,omitempty"`

	// thinkTime is the mean pause of a user per transaction. Default 4s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	ThinkTime *metav1.Duration `json:"thinkTime,omitempty"`

	// release selects the calls that users make: those of FOLIO's pages in 2023,
	// as in the published reports, or in 2026. Default "2023".
	// +optional
	// +kubebuilder:default="2023"
	Release CirculationRelease `json:"release,omitempty"`

	// preflights sends the OPTIONS request that a browser sends before each
	// cross-origin call, and counts its time, as FOLIO's performance team does.
	// Default true.
	// +optional
	// +kubebuilder:default=true
	Preflights *bool `json:"preflights,omitempty"`

	// data holds the items and patrons to use. Absent: the load looks them up
	// in the system.
	// +optional
	Data *CirculationData `json:"data,omitempty"`

	// checkInPercent is the share of check-ins among the transactions.
	// Default 43.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CheckInPercent *int32 `json:"checkInPercent,omitempty"`
}

// Arrivals are the rate of an open load.
type Arrivals struct {
	// perMinute is the number of transactions each minute over all runners.
	// With a capacity, its levels replace it.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1000000",message="arrivals.perMinute must be from 1 to 1000000"
	PerMinute int32 `json:"perMinute"`

	// distribution of the arrivals. Poisson: random, as independent people
	// arrive. Even: at equal distances. Default Poisson.
	// +optional
	// +kubebuilder:default=Poisson
	Distribution ArrivalDistribution `json:"distribution,omitempty"`
}

// ArrivalDistribution is how arrivals are distributed over time.
// +kubebuilder:validation:Enum=Poisson;Even
type ArrivalDistribution string

const (
	// ArrivalsPoisson are random.
	ArrivalsPoisson ArrivalDistribution = "Poisson"
	// ArrivalsEven have equal distances.
	ArrivalsEven ArrivalDistribution = "Even"
)

// CirculationRelease names the calls that FOLIO's circulation pages make.
// +kubebuilder:validation:Enum="2023";"2026"
type CirculationRelease string

// CirculationData is a folder with check-in-items.csv, check-out-items.csv and
// users.csv, each one barcode per line, and the optional service-points.csv
// with ids. Used up entries are used again from the start.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.persistentVolumeClaim)",message="checkInCheckOut.data needs exactly one of configMap and persistentVolumeClaim"
type CirculationData struct {
	// configMap with the files as keys; it holds up to 1 MiB.
	// +optional
	ConfigMap *ConfigMapName `json:"configMap,omitempty"`

	// persistentVolumeClaim with the files. It is mounted read-only.
	// +optional
	PersistentVolumeClaim *VolumeFolder `json:"persistentVolumeClaim,omitempty"`
}

// VolumeFolder is a folder of a PersistentVolumeClaim in the same namespace.
type VolumeFolder struct {
	// claimName of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`

	// subPath of the folder. Absent: the volume's root.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.contains('..')",message="subPath is a path below the volume's root: without a leading '/' and without '..'"
	SubPath string `json:"subPath,omitempty"`
}

// RecordType is the kind of MARC record an import holds.
// +kubebuilder:validation:Enum=Bibliographic;Holdings;Authority
type RecordType string

const (
	// RecordBibliographic describes works; its import makes instances.
	RecordBibliographic RecordType = "Bibliographic"
	// RecordHoldings describes what a library has of a work.
	RecordHoldings RecordType = "Holdings"
	// RecordAuthority describes names and subjects.
	RecordAuthority RecordType = "Authority"
)

// ImportOperation is what an import does with its records.
// +kubebuilder:validation:Enum=Create;Update
type ImportOperation string

const (
	// ImportCreate creates records.
	ImportCreate ImportOperation = "Create"
	// ImportUpdate changes records that a first import created: create, export,
	// update. Only the update is measured.
	ImportUpdate ImportOperation = "Update"
)

// ImportFlow is how a file gets into the system.
// +kubebuilder:validation:Enum=Upload;S3
type ImportFlow string

const (
	// FlowUpload sends the file through the gateway.
	FlowUpload ImportFlow = "Upload"
	// FlowS3 sends the file to the object store, and the system splits it into
	// jobs of 1,000 records.
	FlowS3 ImportFlow = "S3"
)

// DataImport imports files of generated MARC 21 records, one after another or
// several at a time.
//
// +kubebuilder:validation:XValidation:rule="!has(self.operation) || self.operation != 'Update' || !has(self.recordType) || self.recordType == 'Bibliographic'",message="only bibliographic records can be updated: set recordType to Bibliographic or operation to Create"
type DataImport struct {
	// recordType of the file. Default Bibliographic.
	// +optional
	// +kubebuilder:default=Bibliographic
	RecordType RecordType `json:"recordType,omitempty"`

	// operation on the records. Default Create.
	// +optional
	// +kubebuilder:default=Create
	Operation ImportOperation `json:"operation,omitempty"`

	// flow of the file: Upload through the gateway, or S3 with files split by
	// the system. Default Upload.
	// +optional
	// +kubebuilder:default=Upload
	Flow ImportFlow `json:"flow,omitempty"`

	// jobProfile is the name of the job profile. A missing bibliographic
	// profile is created like the performance team's. Default: "PTF - Create 2"
	// and "PTF - Updates Success - 1" for bibliographic records, "Default -
	// Create Holdings and SRS MARC Holdings" for holdings, "Default - Create
	// SRS MARC Authority" for authorities.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	JobProfile string `json:"jobProfile,omitempty"`

	// records in each file.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1000000",message="dataImport.records must be from 1 to 1000000"
	Records int32 `json:"records"`

	// imports is the number of files. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Imports int32 `json:"imports,omitempty"`

	// parallel is the number of imports that run at the same time: they start
	// together, and the next ones when all of them have ended. With a capacity,
	// the levels are parallel imports, and this is the highest. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Parallel int32 `json:"parallel,omitempty"`

	// pause between two imports. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Pause *metav1.Duration `json:"pause,omitempty"`

	// stallTimeout ends an import that makes no progress. Default 30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	StallTimeout *metav1.Duration `json:"stallTimeout,omitempty"`
}

// ScriptResults is the form of a script's results.
// +kubebuilder:validation:Enum=Histograms;Summary
type ScriptResults string

const (
	// ResultsHistograms come from PerfLab's own k6 output. They merge exactly
	// over runners and can be cut into windows.
	ResultsHistograms ScriptResults = "Histograms"
	// ResultsSummary come from k6's own end-of-test summary and work with any k6
	// image. They have no windows, and no percentiles over several runners.
	ResultsSummary ScriptResults = "Summary"
)

// Script is any k6 script. It finds the target in BASE_URL and a seed in SEED.
// If the target has a credentialsSecret, USERNAME and PASSWORD have the login.
// If the target has a tenant, TENANT has it, and OKAPI_USERNAME and
// OKAPI_PASSWORD have the login as well.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.persistentVolumeClaim), has(self.path)].filter(x, x).size() == 1",message="script needs exactly one of configMap, persistentVolumeClaim and path (a file in the image)"
type Script struct {
	// configMap with the script.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// persistentVolumeClaim with the script and its imports.
	// +optional
	PersistentVolumeClaim *ScriptVolume `json:"persistentVolumeClaim,omitempty"`

	// path of the script in the image, for example /scripts/search.js.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="script.path must begin with '/': for example /scripts/search.js"
	Path string `json:"path,omitempty"`

	// image with k6. Absent: PerfLab's own.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// env holds further environment variables.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []corev1.EnvVar `json:"env,omitempty"`

	// arguments for k6 run, for example ["--vus", "8", "--duration", "30m"].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.all(a, a.matches('^[^ \\t\\n\"\\'$`]+$'))",message="an argument of a script must have no space, quote, '$' or '`': k6-operator splits arguments at spaces"
	Arguments []string `json:"arguments,omitempty"`

	// transactions defines what counts as one transaction. Default: groups.
	// +optional
	Transactions *ScriptTransactions `json:"transactions,omitempty"`

	// results is the form of the results. Default: Histograms with PerfLab's
	// image, Summary with another.
	// +optional
	Results ScriptResults `json:"results,omitempty"`
}

// ScriptVolume is a script on a PersistentVolumeClaim in the same namespace.
type ScriptVolume struct {
	// claimName of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`

	// file of the script on the volume, for example search/main.js.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.contains('..') && self.size() > 0",message="file is a path below the volume's root: without a leading '/' and without '..'"
	File string `json:"file"`
}

// ScriptTransactions defines what counts as one transaction of a script.
//
// +kubebuilder:validation:XValidation:rule="(self.by == 'Tag') == has(self.tag)",message="transactions.tag goes with transactions.by: Tag, and only with it"
type ScriptTransactions struct {
	// by defines a transaction. Group: a k6 group, by its duration. Tag: the
	// requests with the same value of a tag. Trend: a sample of the script's own
	// trend transaction_duration, in milliseconds; its tag transaction is the name,
	// and its tag outcome is ok or error.
	// +required
	// +kubebuilder:validation:Enum=Group;Tag;Trend
	By string `json:"by"`

	// tag whose values name the transactions.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Tag string `json:"tag,omitempty"`
}

// Elsewhere is a load that another tool ran.
type Elsewhere struct {
	// tool that ran and measured the load, for example JMeter.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	Tool string `json:"tool"`
}
