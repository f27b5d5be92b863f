{{/* The operator expects objects with these names in its namespace. */}}
{{- define "perflab.selector" -}}
app.kubernetes.io/name: perflab-operator
{{- end }}

{{- define "perflab.labels" -}}
{{ include "perflab.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "perflab.namespaced" -}}
{{- if eq .Values.scope "Namespaced" }}true{{ end }}
{{- end }}

{{- define "perflab.watchNamespace" -}}
{{- default .Release.Namespace .Values.watchNamespace }}
{{- end }}

{{/* A cluster-wide name, which operators of single namespaces must not share. It is not
     truncated: these kinds allow names of 253 characters. */}}
{{- define "perflab.clusterName" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- if include "perflab.namespaced" $root }}{{ printf "%s-%s" $name $root.Release.Namespace }}{{ else }}{{ $name }}{{ end }}
{{- end }}

{{- define "perflab.subjects" -}}
- kind: ServiceAccount
  name: perflab-operator
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* Separate labels of the view's pod, so that the operator's selectors don't match it. */}}
{{- define "perflab.viewSelector" -}}
app.kubernetes.io/name: perflab-view
{{- end }}

{{- define "perflab.viewLabels" -}}
{{ include "perflab.viewSelector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Not empty if an archive needs a volume: of a claim, or of a namespace's Secret. */}}
{{- define "perflab.archiveVolumes" -}}
{{- (.Values.archive).claim }}
{{- range (.Values.archive).namespaces }}{{ .credentialsSecret }}{{ end }}
{{- end }}
